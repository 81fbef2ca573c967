#include "select/configuration.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/hash.hpp"

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

bool can_serve_form(const Algorithm& algorithm, Form form) {
  return form == Form::blocking || can_be_non_blocking(algorithm);
}

// The variable's value; empty counts as not set.
const char* setting(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

void read_choice(Configuration& configuration, Collective collective, Form form, std::string& error) {
  const bool blocking = form == Form::blocking;
  const std::string variable = (blocking ? "STRETTO_" : "STRETTO_I") + upper(name_of(collective));
  const char* value = setting(variable.c_str());
  if (value == nullptr) return;
  if (!blocking) configuration.non_blocking = true;
  const std::optional<Choice> choice = parse_choice(collective, value, form);
  if (choice) {
    configuration.choice(collective, form) = *choice;
  } else {
    error = complaint(variable, value, choices_of(collective, form));
  }
}

// One of the values that `choices` name, in the order in which a message offers them.
template <typename Value, std::size_t N>
void read_one_of(const char* variable, const std::pair<std::string_view, Value> (&choices)[N], Value& target,
                 std::string& error) {
  const char* value = setting(variable);
  if (value == nullptr) return;
  std::string offered;
  for (std::size_t i = 0; i < N; ++i) {
    const auto& [name, choice] = choices[i];
    if (name == value) {
      target = choice;
      return;
    }
    offered += std::string(i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(name);
  }
  error = complaint(variable, value, offered);
}

void read_switch(const char* variable, std::string_view off, std::string_view on, bool& target, std::string& error) {
  read_one_of(variable, {std::pair{off, false}, std::pair{on, true}}, target, error);
}

constexpr std::pair<std::string_view, Background> kBackgrounds[] = {{"auto", Background::automatic},
                                                                    {"off", Background::off},
                                                                    {"polled", Background::polled},
                                                                    {"thread", Background::thread}};
constexpr std::pair<std::string_view, Adapt> kAdapts[] = {{"auto", Adapt::automatic},
                                                          {"off", Adapt::off},
                                                          {"listen", Adapt::listen},
                                                          {"watch", Adapt::watch},
                                                          {"on", Adapt::on}};

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

constexpr std::size_t kMostCores = 1024;  // in a cpu_set_t

// Numbers and ranges, as taskset(1) takes them: 0,2-3.
std::optional<std::vector<std::size_t>> parse_cores(std::string_view text) {
  std::vector<std::size_t> cores;
  for (const std::string_view part : split_at_commas(text)) {
    const std::size_t dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMostCores) return std::nullopt;
    for (std::size_t core = *first; core <= *last; ++core) cores.push_back(core);
  }
  return cores;
}

void read_background_cores(std::vector<std::size_t>& target, std::string& error) {
  const char* value = setting("STRETTO_BACKGROUND_CORE");
  if (value == nullptr) return;
  const auto cores = parse_cores(value);
  if (cores) {
    target = *cores;
  } else {
    error = complaint("STRETTO_BACKGROUND_CORE", value,
                      "numbers of cores below " + std::to_string(kMostCores) + ", such as 3 or 0,2-3");
  }
}

struct Range {
  std::size_t least;
  std::size_t most;
  std::string_view unit;  // and what the least means
};

// The number that the variable holds, if it holds one.
std::optional<std::size_t> read_number(const char* variable, const Range& range, std::string& error) {
  const char* value = setting(variable);
  if (value == nullptr) return std::nullopt;
  const auto number = parse_number(value);
  if (number && *number >= range.least && *number <= range.most) return number;
  error = complaint(variable, value,
                    "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most) +
                        std::string(range.unit));
  return std::nullopt;
}

void read_profile(ProfileSettings& profile, std::string& error) {
  if (const char* directory = setting("STRETTO_PROFILE")) profile.directory = directory;
  if (const auto mebibytes = read_number("STRETTO_PROFILE_MAX_MIB", {2, 1U << 20, ": MiB a rank"}, error))
    profile.max_bytes = *mebibytes << 20;
  if (const auto every = read_number("STRETTO_PROFILE_EVERY", {1, 1U << 30, ": 1 for every call"}, error))
    profile.every = static_cast<std::uint32_t>(*every);
  read_switch("STRETTO_PROFILE_START", "off", "on", profile.from_start, error);
  read_switch("STRETTO_PROFILE_READERS", "owner", "group", profile.group_may_read, error);
  if (const char* names = setting("STRETTO_PROFILE_COLLECTIVES")) {
    for (const std::string_view name : split_at_commas(names)) profile.operations.emplace_back(name);
  }
}

void read_memory(Configuration& configuration, std::string& error) {
  const char* directory = setting("STRETTO_MEMORY");
  if (directory == nullptr) return;
  configuration.memory = directory;
  if (configuration.adapt < Adapt::watch && error.empty())
    error = "stretto: STRETTO_MEMORY keeps what STRETTO_ADAPT learns: set STRETTO_ADAPT to on or watch, too";
}

}  // namespace

bool can_be_non_blocking(const Algorithm& algorithm) {
  return algorithm.needs.memory == Memory::none && !algorithm.needs.words && !algorithm.needs_prediction();
}

namespace {

// Where there can be one.
std::string example_of_hierarchy(Collective collective) {
  for (const std::string_view name : {"binomial", "dissemination"}) {
    for (const std::string_view between : {std::string_view("ring"), name}) {
      Hierarchy hierarchy{};
      if (!find_hierarchy(collective, {name, between}, hierarchy)) continue;
      return "; in a hierarchy: hierarchical(" + std::string(name) + "," + std::string(between) + ")";
    }
  }
  return "";
}

}  // namespace

std::string choices_of(Collective collective, Form form) {
  std::string choices = "default, native";
  std::string in_segments;
  std::string mapped;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective != collective || !can_serve_form(algorithm, form)) continue;
    choices.append(", ").append(algorithm.name);
    if (mapped.empty() && can_be_mapped(algorithm)) {
      mapped.append("; with a map of ranks: ").append(algorithm.name).append("@topology");
    }
    if (!in_segments.empty() || !can_be_pipelined(algorithm)) continue;
    in_segments.append("; in segments: ").append(algorithm.name).append("+4, ").append(algorithm.name).append("+1M");
  }
  return choices + in_segments + mapped + example_of_hierarchy(collective);
}

std::optional<Choice> parse_choice(Collective collective, std::string_view text, Form form) {
  if (text == "default") return Choice{};
  if (text == "native") return Choice{Choice::Kind::native, nullptr};
  const Algorithm* algorithm = find_algorithm(collective, text);
  if (algorithm == nullptr || !can_serve_form(*algorithm, form)) return std::nullopt;
  const bool native = algorithm->run == nullptr;
  if (native && form == Form::non_blocking) return std::nullopt;
  return Choice{native ? Choice::Kind::native : Choice::Kind::forced, algorithm};
}

bool Configuration::all_native() const {
  // Non-blocking ones are the MPI library's unless told otherwise.
  const auto& [blocking, later] = choices;
  return std::ranges::all_of(blocking, [](const Choice& c) { return c.kind == Choice::Kind::native; }) &&
         std::ranges::none_of(later, [](const Choice& c) { return c.kind == Choice::Kind::forced; });
}

std::uint64_t Configuration::fingerprint() const {
  Hash hash;
  for (const auto& form : choices) {
    for (const Choice& choice : form) {
      hash.add(static_cast<std::uint64_t>(choice.kind));
      if (choice.algorithm != nullptr) hash.add(choice.algorithm->name);
    }
  }
  hash.add(non_blocking ? 1 : 0);
  hash.add(deterministic ? 1 : 0);
  hash.add(single_copy ? 1 : 0);
  hash.add(hwloc ? 1 : 0);
  hash.add(remote_words ? 1 : 0);
  hash.add(static_cast<std::uint64_t>(adapt));
  hash.add(check ? 1 : 0);
  hash.add(static_cast<std::uint64_t>(background));
  hash.add(shared_memory_bytes.value_or(~std::uint64_t{0}));
  for (const std::string& text : {topology_file, machine_file, rules_file, memory}) hash.add(text);
  hash.add(profile.directory.empty() ? 0 : 1);
  hash.add(profile.every);
  return hash.value();
}

Configuration read_configuration(std::string& error) {
  Configuration configuration;
  for (Form form : {Form::blocking, Form::non_blocking}) {
    for (Collective collective : kCollectives) read_choice(configuration, collective, form, error);
  }
  read_switch("STRETTO_DETERMINISTIC", "0", "1", configuration.deterministic, error);
  read_switch("STRETTO_CMA", "off", "auto", configuration.single_copy, error);
  read_switch("STRETTO_HWLOC", "off", "auto", configuration.hwloc, error);
  read_one_of("STRETTO_BACKGROUND", kBackgrounds, configuration.background, error);
  read_background_cores(configuration.background_cores, error);
  read_one_of("STRETTO_ADAPT", kAdapts, configuration.adapt, error);
  read_memory(configuration, error);
  read_switch("STRETTO_CHECK", "0", "1", configuration.check, error);
  read_switch("STRETTO_VERBOSE", "0", "1", configuration.verbose, error);
  if (const auto mebibytes = read_number("STRETTO_SHM_MAX_MIB", {0, 1U << 20, ": MiB, 0 for no shared memory"}, error))
    configuration.shared_memory_bytes = *mebibytes << 20;
  if (const char* file = setting("STRETTO_TOPOLOGY")) configuration.topology_file = file;
  if (const char* file = setting("STRETTO_MACHINE")) configuration.machine_file = file;
  if (const char* file = setting("STRETTO_RULES")) configuration.rules_file = file;
  read_profile(configuration.profile, error);
  const auto& blocking = configuration.choices[static_cast<std::size_t>(Form::blocking)];
  configuration.remote_words = std::ranges::any_of(
      blocking, [](const Choice& choice) { return choice.algorithm != nullptr && choice.algorithm->needs.words; });
  read_switch("STRETTO_REMOTE_WORDS", "0", "1", configuration.remote_words, error);
  return configuration;
}

}  // namespace stretto
