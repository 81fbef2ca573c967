// What a record costs: blocks of calls on MPI_COMM_SELF, where the MPI library does next to nothing, in three ways that
// take turns: past Stretto, through it with recording stopped by MPI_Pcontrol(0), and recorded. One rank, run by
// record_cost.py with STRETTO_PROFILE set. Prints a line of JSON: ns a call of each block.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

#include "call_table.hpp"
#include "clock.hpp"

namespace {

using namespace stretto::bench;

constexpr int kBlocks = 400;
constexpr int kCalls = 2000;

double ns_a_call(const CallTable& calls) {
  double value = 1;
  double sum = 0;
  const std::int64_t begin = now_ns();
  for (int call = 0; call < kCalls; ++call) calls.allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  return static_cast<double>(now_ns() - begin) / kCalls;
}

std::string list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return "[" + text + "]";
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const CallTable program = CallTable::of_program();
  const CallTable mpi = CallTable::of_mpi();
  std::vector<double> native;
  std::vector<double> stopped;
  std::vector<double> recorded;
  for (int block = 0; block < kBlocks; ++block) {
    native.push_back(ns_a_call(mpi));
    MPI_Pcontrol(0);
    stopped.push_back(ns_a_call(program));
    MPI_Pcontrol(1);
    recorded.push_back(ns_a_call(program));
  }
  std::printf("{\"native\":%s,\"stopped\":%s,\"recorded\":%s}\n", list(native).c_str(), list(stopped).c_str(),
              list(recorded).c_str());
  MPI_Finalize();
  return 0;
}
