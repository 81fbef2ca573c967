// stretto-registry: prints the registry as a JSON array, for the command line and the documentation.
//
// With a collective and a choice, as STRETTO_ALLREDUCE takes it: ends with 0 where the library takes it, too, else with
// 1, having printed what it takes.

#include <cstdio>

#include "catalogue/catalogue.hpp"
#include "select/configuration.hpp"

namespace {

// The registry's texts hold no character that JSON would want escaped.
void print_text(const char* key, std::string_view value) {
  std::printf("\"%s\": \"%.*s\", ", key, static_cast<int>(value.size()), value.data());
}
void print_flag(const char* key, bool value, const char* end = ", ") {
  std::printf("\"%s\": %s%s", key, value ? "true" : "false", end);
}

// The names that may follow `@`, that for what suits it first; none where ranks cannot be renumbered.
void print_maps(const stretto::Algorithm& algorithm) {
  std::printf("\"maps\": [");
  const char* separator = "";
  const auto print_name = [&](std::string_view name) {
    if (!stretto::can_be_mapped(algorithm) || stretto::find_map_kind(algorithm, name) == nullptr) return;
    std::printf("%s\"%.*s\"", separator, static_cast<int>(name.size()), name.data());
    separator = ", ";
  };
  print_name("topology");
  for (const stretto::MapKind& kind : stretto::map_kinds()) print_name(kind.name);
  std::printf("]}");
}

int check_choice(std::string_view collective, std::string_view choice) {
  const std::optional<stretto::Collective> known = stretto::find_collective(collective);
  if (known && stretto::parse_choice(*known, choice)) return 0;
  std::puts(known ? stretto::choices_of(*known).c_str() : "no such collective");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return check_choice(argv[1], argv[2]);
  const char* separator = "[";
  for (const stretto::Algorithm& algorithm : stretto::algorithms()) {
    std::printf("%s\n  {", separator);
    print_text("collective", stretto::name_of(algorithm.collective));
    print_text("name", algorithm.name);
    print_text("summary", algorithm.summary);
    print_text("source", algorithm.source);
    print_text("cost_balanced", algorithm.balanced->text());
    print_text("cost_after_last", algorithm.after_last->text());
    print_flag("needs_shared_memory", algorithm.needs.memory != stretto::Memory::none);
    print_flag("needs_prediction", algorithm.needs_prediction());
    print_flag("begins_ahead", algorithm.begins_ahead);
    print_flag("needs_atomics", algorithm.needs.words);
    print_flag("commutative_only", algorithm.needs.commutative);
    print_flag("deterministic", algorithm.deterministic);
    print_flag("can_be_pipelined", stretto::can_be_pipelined(algorithm));
    print_maps(algorithm);
    separator = ",";
  }
  std::printf("\n]\n");
}
