#include "select/configuration.hpp"

#include <charconv>
#include <cstdlib>

namespace stretto {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return result;
}

std::string complaint(std::string_view variable, std::string_view value, std::string_view choices) {
  return "stretto: " + std::string(variable) + "=" + std::string(value) + " is not valid; choose " +
         std::string(choices);
}

std::string choices_of(Collective collective) {
  std::string choices = "default, native";
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective == collective) choices += ", " + std::string(algorithm.name);
  }
  return choices;
}

// The variable's value; empty counts as not set.
const char* setting(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

void read_choice(Configuration& configuration, Collective collective, std::string& error) {
  const std::string variable = "STRETTO_" + upper(name_of(collective));
  const char* value = setting(variable.c_str());
  if (value == nullptr) return;
  const std::optional<Choice> choice = parse_choice(collective, value);
  if (choice) {
    configuration.choice(collective) = *choice;
  } else {
    error = complaint(variable, value, choices_of(collective));
  }
}

void read_switch(const char* variable, std::string_view off, std::string_view on, bool& target, std::string& error) {
  const char* value = setting(variable);
  if (value == nullptr) return;
  if (value != off && value != on) {
    error = complaint(variable, value, std::string(off) + " or " + std::string(on));
    return;
  }
  target = value == on;
}

void read_mebibytes(const char* variable, std::size_t& target, std::string& error) {
  const char* value = setting(variable);
  if (value == nullptr) return;
  const std::string_view text(value);
  std::size_t mebibytes = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
  if (status != std::errc{} || end != text.data() + text.size() || mebibytes > (std::size_t{1} << 20)) {
    error = complaint(variable, value, "a whole number of MiB from 0 (no shared memory) to 1048576");
    return;
  }
  target = mebibytes << 20;
}

}  // namespace

std::optional<Choice> parse_choice(Collective collective, std::string_view text) {
  if (text == "default") return Choice{};
  if (text == "native") return Choice{Choice::Kind::native, nullptr};
  const Algorithm* algorithm = find_algorithm(collective, text);
  if (algorithm == nullptr) return std::nullopt;
  return Choice{Choice::Kind::forced, algorithm};
}

std::uint64_t Configuration::fingerprint() const {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
  for (const Choice& choice : choices) {
    mix(static_cast<std::uint64_t>(choice.kind));
    mix(choice.algorithm == nullptr ? 0 : static_cast<std::uint64_t>(choice.algorithm - algorithms().data()) + 1);
  }
  mix(deterministic ? 1 : 0);
  mix(single_copy ? 1 : 0);
  mix(shared_memory_bytes);
  return hash;
}

Configuration read_configuration(std::string& error) {
  Configuration configuration;
  for (Collective collective : kCollectives) read_choice(configuration, collective, error);
  read_switch("STRETTO_DETERMINISTIC", "0", "1", configuration.deterministic, error);
  read_switch("STRETTO_CMA", "off", "auto", configuration.single_copy, error);
  read_switch("STRETTO_VERBOSE", "0", "1", configuration.verbose, error);
  read_mebibytes("STRETTO_SHM_MAX_MIB", configuration.shared_memory_bytes, error);
  if (const char* directory = setting("STRETTO_RECORD")) configuration.record_directory = directory;
  return configuration;
}

}  // namespace stretto
