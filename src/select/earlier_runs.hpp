// What earlier runs of a program have learnt of its calls: which arm was how dear (select/adaptation.hpp).
//
// A file of them stands in the directory that STRETTO_MEMORY names (docs/tuning.md).
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>

#include "core/collective.hpp"
#include "select/adaptation.hpp"
#include "select/measured_on.hpp"

namespace stretto {

/// Calls of one collective, about one length, of so many ranks on so many nodes.
struct KindOfCalls {
  Collective collective;
  std::size_t length;  // binary digits of the bytes
  int ranks;
  int nodes;
  auto operator<=>(const KindOfCalls&) const = default;
};

using EarlierRuns = std::map<KindOfCalls, Adaptation::Learnt>;

struct EarlierRunsFile {
  MeasuredOn on;  // the latest run
  std::string program;
  EarlierRuns runs;
};

/// TOML, schema 1.
std::string write_earlier_runs(const EarlierRunsFile& file);
/// `text` is the content of the file named `name`. Sets `error` to a message that names the file, the place and what
/// would be right where it is none of this version.
EarlierRunsFile read_earlier_runs(const std::string& text, const std::string& name, std::string& error);

}  // namespace stretto
