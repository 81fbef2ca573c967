#include "select/measured_file.hpp"

#include <limits>
#include <sstream>

namespace stretto {

std::int64_t MeasuredTable::number(std::string_view key, std::int64_t least, std::int64_t most) {
  const auto value = node(key).value_exact<std::int64_t>();
  if (!value || *value < least || *value > most) {
    refuse(key, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

std::string MeasuredTable::text(std::string_view key) {
  const auto value = node(key).value_exact<std::string>();
  if (!value) refuse(key, "must be a text");
  return *value;
}

const toml::array& MeasuredTable::array(std::string_view key) {
  const toml::array* found = node(key).as_array();
  if (found == nullptr) refuse(key, "must be a list");
  return *found;
}

MeasuredTable MeasuredTable::table(std::string_view key) {
  const toml::table* found = node(key).as_table();
  if (found == nullptr) refuse(key, "must be a table");
  return {*found, at(key)};
}

void MeasuredTable::finish() const {
  for (const auto& [key, value] : table_) {
    if (!taken_.contains(std::string(key.str()))) refuse(key.str(), "is not known here");
  }
}

void MeasuredTable::refuse(std::string_view key, const std::string& reason) const {
  throw std::invalid_argument(at(key) + ": " + reason);
}

std::string MeasuredTable::at(std::string_view key) const {
  return place_.empty() ? std::string(key) : place_ + "." + std::string(key);
}

const toml::node& MeasuredTable::node(std::string_view key) {
  const toml::node* found = table_.get(key);
  if (found == nullptr) refuse(key, "is missing");
  taken_.insert(std::string(key));
  return *found;
}

MeasuredOn read_measured_on(MeasuredTable& file, std::int64_t own, const std::string& remedy) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const std::int64_t schema = file.number("schema", 1, kAny);
  if (schema != own) {
    file.refuse("schema",
                "is " + std::to_string(schema) + ", this Stretto reads " + std::to_string(own) + ": " + remedy);
  }
  MeasuredTable on = file.table("measured");
  MeasuredOn found{on.text("date"),
                   on.text("stretto"),
                   on.text("mpi"),
                   on.text("cpu"),
                   on.number("cores", 1, kAny),
                   on.number("ranks", 1, kAny),
                   on.number("nodes", 1, kAny)};
  on.finish();
  return found;
}

toml::table write_measured_on(const MeasuredOn& on) {
  return toml::table{{"date", on.date},   {"stretto", on.stretto}, {"mpi", on.mpi},    {"cpu", on.cpu},
                     {"cores", on.cores}, {"ranks", on.ranks},     {"nodes", on.nodes}};
}

std::string write_measured_file(std::string_view comment, const toml::table& content) {
  std::ostringstream text;
  text << "# " << comment << '\n' << toml::toml_formatter(content) << '\n';
  return text.str();
}

}  // namespace stretto
