#include "mpi/profile/profiler.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "catalogue/catalogue.hpp"
#include "core/clock.hpp"
#include "mpi/engine/world.hpp"
#include "mpi/profile/calibration.hpp"
#include "mpi/profile/clock_sync.hpp"

namespace stretto::mpi {
namespace {

using profile::json_string;

std::string read_file(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The arguments lie behind one another, each with a zero at its end.
std::string command_line() {
  std::string list;
  std::istringstream words(read_file("/proc/self/cmdline"));
  for (std::string word; std::getline(words, word, '\0');) list += (list.empty() ? "" : ",") + json_string(word);
  return "[" + list + "]";
}

template <class Items, class NameOf>
std::string name_list(const Items& items, const NameOf& name_of_item) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "" : ",") + json_string(name_of_item(item));
  return list;
}

std::string name_of(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  return name;
}

}  // namespace

std::string Profiler::find_error(const ProfileSettings& settings) {
  for (const std::string& name : settings.operations) {
    if (find_function(name)) continue;
    std::string choices;
    for (const std::string_view known : kFunctionNames) {
      if (!choices.empty()) choices += ", ";
      choices += known;
    }
    std::transform(choices.begin(), choices.end(), choices.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string error = "stretto: STRETTO_PROFILE_COLLECTIVES=";
    return error.append(name).append(" is not valid; choose some of ").append(choices);
  }
  return "";
}

void Profiler::start(const Configuration& configuration, const World& world) {
  const ProfileSettings& settings = configuration.profile;
  if (settings.directory.empty()) return;
  const int world_rank = world.rank();
  const int world_size = world.size();
  world_rank_ = world_rank;
  every_ = settings.every;
  recording_ = settings.from_start;
  if (!settings.operations.empty()) operations_wanted_ = 0;
  for (const std::string& name : settings.operations) {
    operations_wanted_ |= std::uint64_t{1} << static_cast<unsigned>(*find_function(name));
  }
  std::uint64_t run = 0;
  if (world_rank == 0 && getrandom(&run, sizeof run, 0) != sizeof run) run = static_cast<std::uint64_t>(monotonic_ns());
  PMPI_Bcast(&run, 1, MPI_UINT64_T, 0, world.comm());
  std::string error;
  const bool opened =
      file_.open({settings.directory, world_rank, world_size, run, settings.max_bytes, settings.group_may_read}, error);
  int first_without = opened ? world_size : world_rank;
  PMPI_Allreduce(MPI_IN_PLACE, &first_without, 1, MPI_INT, MPI_MIN, world.comm());
  if (first_without < world_size) {
    if (world_rank == first_without) std::fprintf(stderr, "stretto: STRETTO_PROFILE: %s\n", error.c_str());
    PMPI_Barrier(world.comm());  // a launcher ends the job at the first exit: not before the message is out
    std::exit(2);
  }
  tell_job(configuration);
  tell_clock(world);
  tell_alpha(world);
}

void Profiler::finish(const World& world, const std::vector<Communicator*>& communicators, const Lessons& lessons) {
  if (!active()) return;
  for (const Communicator* communicator : communicators) {
    if (communicator->index == Communicator::kUnknown) continue;
    // The program may have named it since.
    fact(R"({"fact":"communicator_name","index":)" + std::to_string(communicator->index) + R"(,"name":)" +
         json_string(name_of(communicator->comm)) + "}");
  }
  if (world_rank_ == 0) tell_savings(lessons);
  tell_clock(world);
  file_.mark_finished();
  file_.close();
}

void Profiler::tell_job(const Configuration& configuration) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(version, &length);
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const std::int64_t wall_ns = static_cast<std::int64_t>(wall.tv_sec) * 1'000'000'000 + wall.tv_nsec;
  fact(R"({"fact":"job","command":)" + command_line() + R"(,"process":)" + std::to_string(getpid()) + R"(,"mpi":)" +
       json_string(version) + R"(,"wall_clock_ns":)" + std::to_string(wall_ns) + R"(,"monotonic_ns":)" +
       std::to_string(monotonic_ns()) + R"(,"every":)" + std::to_string(every_) + R"(,"accelerated":)" +
       (configuration.all_native() ? "false" : "true") + "}");
  fact(R"({"fact":"operations","names":[)" + name_list(kFunctionNames, [](std::string_view name) { return name; }) +
       "]}");
  tell_algorithms();
}

// All ranks have learnt the same.
void Profiler::tell_savings(const Lessons& lessons) {
  lessons.for_each([this](Collective collective, std::uint64_t from_bytes, const Tally& tally) {
    const auto entry = [](const char* name, std::int64_t value) {
      return std::string(",\"") + name + "\":" + std::to_string(value);
    };
    std::string arrivals;
    for (const Tally::Count& calls : tally.arrivals) arrivals += (arrivals.empty() ? "" : ",") + std::to_string(calls);
    fact(R"({"fact":"saved","collective":)" + json_string(name_of(collective)) + R"(,"from_bytes":)" +
         std::to_string(from_bytes) + entry("calls", tally.calls) + entry("ours", tally.ours) +
         entry("native_ns", tally.native_ns) + entry("saved_ns", tally.saved_ns) + entry("unsure_ns", tally.unsure_ns) +
         R"(,"arrivals":[)" + arrivals + "]}");
  });
}

void Profiler::tell_algorithms() {
  // Relaxed: who sees an old number asks again under the lock.
  if (!active() || told_algorithms_.load(std::memory_order_relaxed) == algorithm_count()) return;
  const std::scoped_lock lock(telling_algorithms_);
  const std::size_t count = algorithm_count();
  if (told_algorithms_.load(std::memory_order_relaxed) == count) return;
  std::vector<std::string_view> names{"native"};
  for (std::size_t number = 0; number < count; ++number) names.push_back(algorithm_numbered(number).name);
  fact(R"({"fact":"algorithms","names":[)" + name_list(names, [](std::string_view name) { return name; }) + "]}");
  told_algorithms_.store(count, std::memory_order_relaxed);
}

void Profiler::tell_clock(const World& world) {
  const ClockOffset clock = compare_clocks(world.channel(), world.nodes());
  fact(R"({"fact":"clock","at_ns":)" + std::to_string(clock.at_ns) + R"(,"offset_ns":)" +
       std::to_string(clock.offset_ns) + R"(,"error_ns":)" + std::to_string(clock.error_ns) + "}");
}

void Profiler::tell_alpha(const World& world) {
  const Calibration calibration = measure_point_to_point(world.channel(), world.nodes());
  const auto tell = [this](const char* kind, const std::vector<OneWay>& points) {
    if (points.empty()) return;
    std::string list;
    for (const OneWay& point : points) {
      list += (list.empty() ? "[" : ",[") + std::to_string(point.bytes) + "," + std::to_string(point.ns) + "]";
    }
    fact(std::string(R"({"fact":"alpha","between":")") + kind + R"(","points":[)" + list + "]}");
  };
  tell("node", calibration.node);
  tell("network", calibration.network);
}

std::uint64_t Profiler::locate(const Caller& caller) {
  return call_sites_.resolve(caller, [this](const Module& module) {
    fact(R"({"fact":"module","path":)" + json_string(module.path) + R"(,"base":)" + std::to_string(module.base) +
         R"(,"begin":)" + std::to_string(module.begin) + R"(,"end":)" + std::to_string(module.end) + "}");
  });
}

void Profiler::introduce(Communicator& communicator, MPI_Comm comm, bool alone) {
  communicator.comm = comm;
  communicator.index = communicators_.fetch_add(1);
  std::uint64_t identity = 0;
  if (comm != MPI_COMM_WORLD) {
    identity = static_cast<std::uint64_t>(world_rank_ + 1) << 32 | ++identities_;
    if (!alone && communicator.size > 1) PMPI_Bcast(&identity, 1, MPI_UINT64_T, 0, comm);
  }
  fact(R"({"fact":"communicator","index":)" + std::to_string(communicator.index) + R"(,"identity":)" +
       std::to_string(identity) + R"(,"size":)" + std::to_string(communicator.size) + R"(,"rank":)" +
       std::to_string(communicator.rank) + R"(,"matched":)" + (alone ? "false" : "true") + R"(,"name":)" +
       json_string(name_of(comm)) + "}");
}

std::uint32_t Profiler::introduce_persistent(const Communicator& communicator, std::uint32_t number) {
  const std::uint32_t index = communicators_.fetch_add(1);
  fact(R"({"fact":"persistent","index":)" + std::to_string(index) + R"(,"communicator":)" +
       std::to_string(communicator.index) + R"(,"number":)" + std::to_string(number) + "}");
  return index;
}

std::uint16_t Profiler::number_of(MPI_Datatype datatype, std::size_t bytes) {
  struct Remembered {
    MPI_Datatype datatype;
    std::size_t bytes;
    std::uint16_t number;
  };
  static thread_local Remembered latest{MPI_DATATYPE_NULL, 0, profile::kNone};
  if (latest.datatype == datatype && latest.bytes == bytes) return latest.number;
  const std::uint16_t number = datatypes_.number(datatype, bytes, [&](std::uint16_t fresh) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Type_get_name(datatype, name, &length);
    fact(R"({"fact":"datatype","index":)" + std::to_string(fresh) + R"(,"name":)" + json_string(name) + R"(,"bytes":)" +
         std::to_string(bytes) + "}");
  });
  latest = {datatype, bytes, number};
  return number;
}

std::uint16_t Profiler::number_of(MPI_Op op) {
  struct Remembered {
    MPI_Op op;
    std::uint16_t number;
  };
  static thread_local Remembered latest{MPI_OP_NULL, profile::kNone};
  if (latest.op == op) return latest.number;
  const std::uint16_t number = reductions_.number(op, 0, [&](std::uint16_t fresh) {
    const struct {
      MPI_Op op;
      const char* name;
    } kKnown[] = {{MPI_SUM, "MPI_SUM"},   {MPI_PROD, "MPI_PROD"},     {MPI_MIN, "MPI_MIN"},
                  {MPI_MAX, "MPI_MAX"},   {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
                  {MPI_LXOR, "MPI_LXOR"}, {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
                  {MPI_BXOR, "MPI_BXOR"}, {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"}};
    const char* name = "user's";
    for (const auto& known : kKnown) {
      if (known.op == op) name = known.name;
    }
    fact(R"({"fact":"reduction","index":)" + std::to_string(fresh) + R"(,"name":)" + json_string(name) + "}");
  });
  latest = {op, number};
  return number;
}

}  // namespace stretto::mpi
