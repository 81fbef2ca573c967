// machine.toml: what `stretto tune --machine` has measured, and on what. docs/machine.md describes it.
#pragma once

#include <string>

#include "select/machine.hpp"
#include "select/measured_on.hpp"

namespace stretto {

struct MachineFile {
  MeasuredOn on;
  Machine machine;
};

std::string write_machine(const MachineFile& file);

/// `text` is the content of the file named `name`. Sets `error` to a message that names the file, the place and what
/// would be right where it is not a machine of this version.
MachineFile read_machine(const std::string& text, const std::string& name, std::string& error);

}  // namespace stretto
