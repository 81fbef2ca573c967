// stretto-choices: what the library would run, for `stretto tune`.
//
//   stretto-choices RULES                      ends with 0 where ranks can read that rules file, else says why not
//   stretto-choices RULES MACHINE COLLECTIVE RANKS NODES SKEW_NS BYTES...
//
// RULES and MACHINE are files, or `-` for none. Prints a JSON line for each length: what is chosen, by what, of which
// ranks and nodes the nearest rules are (0: there are none), whether the ranks count as uneven for these, whether it
// is chosen by how far apart they come, and of several nodes what is predicted of algorithms so, in ns.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "mpi/places/text_file.hpp"
#include "select/forecast.hpp"
#include "select/machine_file.hpp"
#include "select/rules.hpp"
#include "select/tuned_rules.hpp"

namespace stretto {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  std::fprintf(stderr, "stretto: %s\n", message.c_str());
  std::exit(2);
}

// Of a file, or of none.
template <typename File>
File read(const std::string& name, File (*reader)(const std::string&, const std::string&, std::string&)) {
  if (name == "-") return {};
  std::string error;
  const std::optional<std::string> text = mpi::read_file(name, error);
  if (!text) refuse(name + ": cannot be read: " + error);
  File file = reader(*text, name, error);
  if (!error.empty()) refuse(error);
  return file;
}

struct Question {
  Collective collective;
  int ranks;
  int nodes;
  double skew_ns;

  bool uneven() const { return nodes == 1 && is_uneven(static_cast<std::int64_t>(skew_ns)); }
};

Collective collective_of(const std::string& name) {
  const std::optional<Collective> found = find_collective(name);
  if (!found) refuse(name + ": no such collective");
  return *found;
}

int positive(const char* text, const char* what) {
  const long value = std::strtol(text, nullptr, 10);
  if (value < 1 || value > std::numeric_limits<int>::max()) refuse(std::string(what) + " " + text + ": at least 1");
  return static_cast<int>(value);
}

// How ranks come, where calls between nodes are chosen by that.
ArrivalClass arrivals_at(Forecast& forecast, const Question& question, std::size_t bytes) {
  if (!forecast.goes_by_arrivals(question.collective)) return ArrivalClass::balanced;
  return arrivals_of(question.skew_ns / forecast.native_ns(question.collective, bytes));
}

// What is considered, all that have a name of their own, what is chosen, and what the MPI library is taken to do.
void print_forecast(Forecast& forecast, const Question& question, std::size_t bytes, const Algorithm* chosen) {
  const ArrivalClass arrivals = arrivals_at(forecast, question, bytes);
  std::vector<const Algorithm*> predicted = forecast.considered(question.collective, bytes, arrivals);
  const auto cost = [&](const Algorithm& algorithm) { return forecast.cost_ns(algorithm, bytes, arrivals); };
  for (const Algorithm& algorithm : algorithms()) {
    const bool is_other = algorithm.collective == question.collective && algorithm.needs.memory == Memory::none &&
                          std::ranges::find(predicted, &algorithm) == predicted.end();
    if (is_other) predicted.push_back(&algorithm);
  }
  const bool is_another = chosen != nullptr && std::ranges::find(predicted, chosen) == predicted.end();
  if (is_another) predicted.push_back(chosen);
  std::printf(", \"predicted_ns\": {");
  const char* separator = "";
  if (!forecast.considered(question.collective, bytes).empty()) {
    const Algorithm& native = forecast.native_like(question.collective, bytes);
    std::printf("\"native\": %.0f", cost(native));
    separator = ", ";
  }
  for (const Algorithm* algorithm : predicted) {
    const std::string name(algorithm->name);
    std::printf("%s\"%s\": %.0f", separator, name.c_str(), cost(*algorithm));
    separator = ", ";
  }
  std::printf("}");
}

void answer(const Question& question, const RuleTable& table, Forecast* forecast, std::size_t bytes) {
  const bool one_node = question.nodes == 1;
  CallFacts facts{question.collective,
                  bytes,
                  std::min<std::size_t>(bytes, 1),
                  true,
                  question.ranks,
                  one_node,
                  std::numeric_limits<std::size_t>::max() / 2,
                  question.uneven()};
  if (!one_node && question.nodes < question.ranks) facts.shared_nodes = {question.nodes, false, true};
  facts.forecast = forecast;
  if (forecast != nullptr) facts.arrivals = arrivals_at(*forecast, question, bytes);
  const Algorithm* untuned = choose({}, facts);
  facts.tuned = &table;
  const Algorithm* chosen = choose({}, facts);
  const RuleTable::Found rule = table.find(question.collective, bytes, question.uneven());
  const auto name = [](const Algorithm* algorithm) {
    return std::string(algorithm == nullptr ? "native" : algorithm->name);
  };
  const char* by = rule.ranks > 0 ? "rules" : forecast != nullptr ? "prediction" : "default";
  std::printf("{\"bytes\": %zu, \"chosen\": \"%s\", \"untuned\": \"%s\", \"by\": \"%s\", \"uneven\": %s", bytes,
              name(chosen).c_str(), name(untuned).c_str(), by, question.uneven() ? "true" : "false");
  std::printf(", \"apart\": %s", question.uneven() || facts.arrivals != ArrivalClass::balanced ? "true" : "false");
  std::printf(", \"rule_ranks\": %d, \"rule_nodes\": %d", rule.ranks, rule.nodes);
  if (forecast != nullptr) print_forecast(*forecast, question, bytes, chosen);
  std::printf("}\n");
}

int run(int argc, char** argv) {
  if (argc != 2 && argc < 8) refuse("stretto-choices: RULES [MACHINE COLLECTIVE RANKS NODES SKEW_NS BYTES...]");
  const RuleFile rules = read(argv[1], read_rules);
  if (argc == 2) return 0;
  const MachineFile machine = read(argv[2], read_machine);
  const Question question{collective_of(argv[3]), positive(argv[4], "ranks"), positive(argv[5], "nodes"),
                          std::strtod(argv[6], nullptr)};
  if (question.nodes > question.ranks) refuse("more nodes than ranks");
  const RuleTable table = rules.rules.table_of(question.ranks, question.nodes);
  const bool open_mpi = (argv[2][0] == '-' ? rules.on : machine.on).mpi.starts_with("Open MPI");
  Forecast forecast(machine.machine, {question.ranks, question.nodes, Placement::side_by_side, /*boards=*/true},
                    open_mpi ? kBesideOpenMpi : kBesideOthers);
  for (int i = 7; i < argc; ++i) {
    const std::size_t bytes = std::strtoull(argv[i], nullptr, 10);
    answer(question, table, question.nodes == 1 ? nullptr : &forecast, bytes);
  }
  return 0;
}

}  // namespace
}  // namespace stretto

int main(int argc, char** argv) { return stretto::run(argc, argv); }
