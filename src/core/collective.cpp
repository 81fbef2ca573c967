#include "core/collective.hpp"

#include "core/platform.hpp"

namespace stretto {

void Caller::arrive(Platform& platform, const std::byte* input_, std::byte* output_) {
  input = input_;
  output = output_;
  platform.publish(arrived, 1);
}

}  // namespace stretto
