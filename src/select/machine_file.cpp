#include "select/machine_file.hpp"

#include <algorithm>
#include <limits>

#include "select/measured_file.hpp"

namespace stretto {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kMostNs = 3600LL * 1'000'000'000;  // of anything in the file

toml::array array_of(const Curve& curve) {
  toml::array values;
  for (const std::int64_t value : curve.ns) values.push_back(value);
  return values;
}

constexpr auto kRemedy = "measure again with `stretto tune --machine`";

Curve read_curve(MeasuredTable& table, std::string_view key) {
  Curve found;
  const toml::array& values = table.array(key);
  if (values.size() != found.ns.size()) {
    table.refuse(key, "must be a list of " + std::to_string(found.ns.size()) + " numbers, one for each of `lengths`");
  }
  for (std::size_t i = 0; i < found.ns.size(); ++i) {
    const auto value = values[i].value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > kMostNs)
      table.refuse(key, "must hold whole numbers of ns, from 0 to an hour's");
    found.ns[i] = *value;
  }
  return found;
}

void read_links(MeasuredTable& file, Machine& machine) {
  MeasuredTable links = file.table("link");
  for (std::size_t i = 0; i < kLevels; ++i) {
    const std::string_view name = name_of(static_cast<Level>(i));
    if (!links.has(name)) continue;
    MeasuredTable entry = links.table(name);
    Link link;
    link.eager_bytes = entry.number("eager_bytes", 0, std::numeric_limits<std::int64_t>::max());
    link.message = read_curve(entry, "message_ns");
    link.gap = read_curve(entry, "gap_ns");
    entry.finish();
    machine.know(static_cast<Level>(i), link);
  }
  links.finish();
}

void read_crowded(MeasuredTable& file, Machine& machine) {
  if (!file.has("crowded")) return;
  MeasuredTable entry = file.table("crowded");
  const auto known = [&](const char* name) { return entry.has(name) ? entry.number(name, 0, kMostNs) : 0; };
  machine.crowded = {entry.number("message_ns", 0, kMostNs), entry.number("byte_ps", 0, kMostNs),
                     known("near_message_ns"), known("near_byte_ps")};
  entry.finish();
}

void read_works(MeasuredTable& file, Machine& machine) {
  std::size_t count = 0;
  file.tables("work", [&](MeasuredTable& entry) {
    if (count == Machine::kMostWorks) {
      file.refuse("work", "must have at most " + std::to_string(Machine::kMostWorks) + " entries");
    }
    MemoryTimes& work = machine.works[count++];
    work.cores = entry.number("cores", 1, 1 << 20);
    if (count > 1 && work.cores <= machine.works[count - 2].cores)
      entry.refuse("cores", "must rise from entry to entry");
    work.copy = read_curve(entry, "copy_ns");
    work.reduce = read_curve(entry, "reduce_ns");
    entry.finish();
  });
}

MachineFile read(MeasuredTable& file) {
  MachineFile found;
  found.on = read_measured_on(file, kSchema, kRemedy);
  const auto right = [](std::int64_t read, std::size_t own) { return read == static_cast<std::int64_t>(own); };
  if (!std::ranges::equal(read_curve(file, "lengths").ns, Curve::kLengths, right)) {
    file.refuse("lengths", std::string("must be those of schema 1: ") + kRemedy);
  }
  read_links(file, found.machine);
  read_crowded(file, found.machine);
  read_works(file, found.machine);
  MeasuredTable times = file.table("times");
  found.machine.line_ns = times.number("line_ns", 0, kMostNs);
  found.machine.wake_ns = times.number("wake_ns", 0, kMostNs);
  found.machine.call_ns = times.number("call_ns", 0, kMostNs);
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
      {"measured", write_measured_on(file.on)},
      {"times", toml::table{{"line_ns", machine.line_ns}, {"wake_ns", machine.wake_ns}, {"call_ns", machine.call_ns}}},
      {"link", links},
      {"work", works}};
  if (machine.crowded.message_ns > 0) {
    content.insert("crowded", toml::table{{"message_ns", machine.crowded.message_ns},
                                          {"byte_ps", machine.crowded.byte_ps},
                                          {"near_message_ns", machine.crowded.near_message_ns},
                                          {"near_byte_ps", machine.crowded.near_byte_ps}});
  }
  return write_measured_file("What messages, copies and sums take here, in ns by length in bytes: docs/machine.md.",
                             content);
}

MachineFile read_machine(const std::string& text, const std::string& name, std::string& error) {
  return read_measured_file(text, name, error, read);
}

}  // namespace stretto
