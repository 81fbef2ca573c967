// stretto-model, started by `stretto model`: key=value arguments in, JSON lines out.
// Exit codes: 0 predicted, 1 a wrong result, 2 a request that cannot be carried out.
#include <cstdio>
#include <exception>

#include "model.hpp"

int main(int argc, char** argv) {
  using namespace stretto;
  try {
    const model::ModelOptions options = model::parse_model_options(argc, argv);
    model::Model(options).run();
  } catch (const bench::UsageError& error) {
    std::fprintf(stderr, "stretto-model: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stretto-model: %s\n", error.what());
    return 1;
  }
  return 0;
}
