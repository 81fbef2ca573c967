#include "select/machine_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>

namespace stretto {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMostNs = 3600LL * 1'000'000'000;  // of anything in the file

toml::array array_of(const Curve& curve) {
  toml::array values;
  for (const std::int64_t value : curve.ns) values.push_back(value);
  return values;
}

// A table of the file that takes its entries out one by one, so that what nobody knows is found.
class Reader {
 public:
  Reader(const toml::table& table, std::string place) : table_(table), place_(std::move(place)) {}

  std::int64_t number(std::string_view key, std::int64_t least = 0, std::int64_t most = kMostNs) {
    const auto value = node(key).value_exact<std::int64_t>();
    if (!value || *value < least || *value > most) {
      refuse(key, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return *value;
  }
  std::string text(std::string_view key) {
    const auto value = node(key).value_exact<std::string>();
    if (!value) refuse(key, "must be a text");
    return *value;
  }
  Curve curve(std::string_view key) {
    Curve found;
    const toml::array* values = node(key).as_array();
    if (values == nullptr || values->size() != found.ns.size()) {
      refuse(key, "must be a list of " + std::to_string(found.ns.size()) + " numbers, one for each of `lengths`");
    }
    for (std::size_t i = 0; i < found.ns.size(); ++i) {
      const auto value = (*values)[i].value_exact<std::int64_t>();
      if (!value || *value < 0 || *value > kMostNs) refuse(key, "must hold whole numbers of ns, from 0 to an hour's");
      found.ns[i] = *value;
    }
    return found;
  }
  Reader table(std::string_view key) {
    const toml::table* found = node(key).as_table();
    if (found == nullptr) refuse(key, "must be a table");
    return {*found, at(key)};
  }
  template <typename Each>
  void tables(std::string_view key, const Each& each) {
    const toml::array* found = node(key).as_array();
    if (found == nullptr) refuse(key, "must be a list of tables");
    for (const toml::node& entry : *found) {
      const toml::table* as_table = entry.as_table();
      if (as_table == nullptr) refuse(key, "must be a list of tables");
      Reader inner(*as_table, at(key));
      each(inner);
    }
  }
  const toml::table& all() const { return table_; }
  /// Nothing else is there.
  void finish() const {
    for (const auto& [key, value] : table_) {
      if (!taken_.contains(std::string(key.str()))) refuse(key.str(), "is not known here");
    }
  }
  [[noreturn]] void refuse(std::string_view key, const std::string& reason) const {
    throw std::invalid_argument(at(key) + ": " + reason);
  }

 private:
  std::string at(std::string_view key) const {
    return place_.empty() ? std::string(key) : place_ + "." + std::string(key);
  }
  const toml::node& node(std::string_view key) {
    const toml::node* found = table_.get(key);
    if (found == nullptr) refuse(key, "is missing");
    taken_.insert(std::string(key));
    return *found;
  }

  const toml::table& table_;
  std::string place_;
  std::set<std::string> taken_;
};

void read_links(Reader& file, Machine& machine) {
  Reader links = file.table("link");
  for (std::size_t i = 0; i < kLevels; ++i) {
    const std::string_view name = name_of(static_cast<Level>(i));
    if (!links.all().contains(name)) continue;
    Reader entry = links.table(name);
    Link link;
    link.eager_bytes = entry.number("eager_bytes", 0, std::numeric_limits<std::int64_t>::max());
    link.message = entry.curve("message_ns");
    link.gap = entry.curve("gap_ns");
    entry.finish();
    machine.know(static_cast<Level>(i), link);
  }
  links.finish();
}

void read_crowded(Reader& file, Machine& machine) {
  if (!file.all().contains("crowded")) return;
  Reader entry = file.table("crowded");
  machine.crowded = {entry.number("message_ns"), entry.number("byte_ps")};
  entry.finish();
}

void read_works(Reader& file, Machine& machine) {
  std::size_t count = 0;
  file.tables("work", [&](Reader& entry) {
    if (count == Machine::kMostWorks) {
      file.refuse("work", "must have at most " + std::to_string(Machine::kMostWorks) + " entries");
    }
    MemoryTimes& work = machine.works[count++];
    work.cores = entry.number("cores", 1, 1 << 20);
    if (count > 1 && work.cores <= machine.works[count - 2].cores)
      entry.refuse("cores", "must rise from entry to entry");
    work.copy = entry.curve("copy_ns");
    work.reduce = entry.curve("reduce_ns");
    entry.finish();
  });
}

MachineFile read(const toml::table& content) {
  Reader file(content, "");
  const std::int64_t schema = file.number("schema", 1);
  if (schema != kSchema) {
    file.refuse("schema", "is " + std::to_string(schema) + ", this Stretto reads " + std::to_string(kSchema) +
                              ": measure again with `stretto tune --machine`");
  }
  const auto right = [](std::int64_t read, std::size_t own) { return read == static_cast<std::int64_t>(own); };
  if (!std::ranges::equal(file.curve("lengths").ns, Curve::kLengths, right)) {
    file.refuse("lengths", "must be those of schema 1: measure again with `stretto tune --machine`");
  }
  MachineFile found;
  Reader on = file.table("measured");
  found.on = {on.text("date"),       on.text("stretto"),    on.text("mpi"),       on.text("cpu"),
              on.number("cores", 1), on.number("ranks", 1), on.number("nodes", 1)};
  on.finish();
  read_links(file, found.machine);
  read_crowded(file, found.machine);
  read_works(file, found.machine);
  Reader times = file.table("times");
  found.machine.line_ns = times.number("line_ns");
  found.machine.wake_ns = times.number("wake_ns");
  found.machine.call_ns = times.number("call_ns");
  times.finish();
  file.finish();
  return found;
}

}  // namespace

std::string write_machine(const MachineFile& file) {
  const Machine& machine = file.machine;
  toml::array lengths;
  for (const std::size_t length : Curve::kLengths) lengths.push_back(static_cast<std::int64_t>(length));
  toml::table links;
  for (std::size_t i = 0; i < kLevels; ++i) {
    if (machine.known[i] == 0) continue;
    const Link& link = machine.links[i];
    links.insert(name_of(static_cast<Level>(i)), toml::table{{"eager_bytes", link.eager_bytes},
                                                             {"message_ns", array_of(link.message)},
                                                             {"gap_ns", array_of(link.gap)}});
  }
  toml::array works;
  for (const MemoryTimes& work : machine.works) {
    if (work.cores == 0) continue;
    works.push_back(
        toml::table{{"cores", work.cores}, {"copy_ns", array_of(work.copy)}, {"reduce_ns", array_of(work.reduce)}});
  }
  toml::table content{
      {"schema", kSchema},
      {"lengths", lengths},
      {"measured", toml::table{{"date", file.on.date},
                               {"stretto", file.on.stretto},
                               {"mpi", file.on.mpi},
                               {"cpu", file.on.cpu},
                               {"cores", file.on.cores},
                               {"ranks", file.on.ranks},
                               {"nodes", file.on.nodes}}},
      {"times", toml::table{{"line_ns", machine.line_ns}, {"wake_ns", machine.wake_ns}, {"call_ns", machine.call_ns}}},
      {"link", links},
      {"work", works}};
  if (machine.crowded.message_ns > 0) {
    content.insert("crowded",
                   toml::table{{"message_ns", machine.crowded.message_ns}, {"byte_ps", machine.crowded.byte_ps}});
  }
  std::ostringstream text;
  text << "# What messages, copies and sums take here, in ns by length in bytes: docs/machine.md.\n"
       << toml::toml_formatter(content) << '\n';
  return text.str();
}

MachineFile read_machine(const std::string& text, const std::string& name, std::string& error) {
  try {
    return read(toml::parse(text));
  } catch (const toml::parse_error& wrong) {
    error =
        name + ", line " + std::to_string(wrong.source().begin.line) + ": no TOML: " + std::string(wrong.description());
  } catch (const std::invalid_argument& wrong) {
    error = name + ": " + wrong.what();
  }
  return {};
}

}  // namespace stretto
