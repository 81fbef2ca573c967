// What files of measurements have in common: what they were measured on, and how they are read.
#pragma once

#include <stdexcept>

// What toml++ 3.3 asserts of its own, files can break ("[!rule]"): that is to be the file's error, not the job's end.
#ifdef NDEBUG
#error "toml++ takes for granted what it asserts, where NDEBUG is defined"
#endif
namespace stretto {
[[noreturn]] inline void refuse_toml() { throw std::invalid_argument("no TOML"); }
}  // namespace stretto
#define TOML_ASSERT(holds) ((holds) ? static_cast<void>(0) : stretto::refuse_toml())
#include <toml++/toml.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "select/measured_on.hpp"

namespace stretto {

/// A table of such a file. Its entries are taken out one by one, so that what nobody knows is found; what is not as it
/// has to be raises std::invalid_argument, which names the place and what would be right.
class MeasuredTable {
 public:
  MeasuredTable(const toml::table& table, std::string place) : table_(table), place_(std::move(place)) {}

  bool has(std::string_view key) const { return table_.contains(key); }
  std::int64_t number(std::string_view key, std::int64_t least, std::int64_t most);
  std::string text(std::string_view key);
  const toml::array& array(std::string_view key);
  MeasuredTable table(std::string_view key);
  template <typename Each>
  void tables(std::string_view key, const Each& each) {
    for (const toml::node& entry : array(key)) {
      const toml::table* as_table = entry.as_table();
      if (as_table == nullptr) refuse(key, "must be a list of tables");
      MeasuredTable inner(*as_table, at(key));
      each(inner);
    }
  }
  /// Whatever it holds.
  void leave(std::string_view key) { taken_.insert(std::string(key)); }
  /// Nothing else is there.
  void finish() const;
  [[noreturn]] void refuse(std::string_view key, const std::string& reason) const;

 private:
  std::string at(std::string_view key) const;
  const toml::node& node(std::string_view key);

  const toml::table& table_;
  std::string place_;
  std::set<std::string> taken_;
};

/// The file's table `measured`. Before it `schema` is to be `own`; else the message tells of `remedy`.
MeasuredOn read_measured_on(MeasuredTable& file, std::int64_t own, const std::string& remedy);

toml::table write_measured_on(const MeasuredOn& on);

/// The text of such a file, which begins with `comment`.
std::string write_measured_file(std::string_view comment, const toml::table& content);

/// `read` of the content of the file named `name`, which is TOML. Else `error` is a message that names the file, the
/// place and what would be right.
template <typename Read>
auto read_measured_file(const std::string& text, const std::string& name, std::string& error, const Read& read)
    -> decltype(read(std::declval<MeasuredTable&>())) {
  try {
    const toml::table content = toml::parse(text);
    MeasuredTable file(content, "");
    return read(file);
  } catch (const toml::parse_error& wrong) {
    error =
        name + ", line " + std::to_string(wrong.source().begin.line) + ": no TOML: " + std::string(wrong.description());
  } catch (const std::invalid_argument& wrong) {
    error = name + ": " + wrong.what();
  }
  return {};
}

}  // namespace stretto
