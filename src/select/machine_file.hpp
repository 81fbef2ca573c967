// machine.toml: what `stretto tune --machine` has measured, and on what. docs/machine.md describes it.
#pragma once

#include <cstdint>
#include <string>

#include "select/machine.hpp"

namespace stretto {

/// On what a machine was measured.
struct MeasuredOn {
  std::string date;     // as of ISO 8601
  std::string stretto;  // version
  std::string mpi;      // version of the library, its first line
  std::string cpu;      // model
  std::int64_t cores = 0;
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
};

struct MachineFile {
  MeasuredOn on;
  Machine machine;
};

std::string write_machine(const MachineFile& file);

/// `text` is the content of the file named `name`. Sets `error` to a message that names the file, the place and what
/// would be right where it is not a machine of this version.
MachineFile read_machine(const std::string& text, const std::string& name, std::string& error);

}  // namespace stretto
