// Where lessons are kept between runs: a file for each program, kind of machine and number of ranks.
#pragma once

#include <string>

#include "select/earlier_runs.hpp"

namespace stretto::mpi {

class World;

class LessonFile {
 public:
  /// Of the program that this is; `directory` is made where there is none. What earlier runs have left there, which all
  /// ranks get. Collective over the world.
  EarlierRuns open(const std::string& directory, const World& world);
  /// On rank 0, whose file it is; else, and before open(), nothing.
  void write(const EarlierRuns& runs, const World& world) const;

 private:
  std::string path_;
  std::string program_;
};

}  // namespace stretto::mpi
