#include "native_variants.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace stretto::bench {
namespace {

// A setting of the MPI library, a "control variable" of its tools interface.
class Setting {
 public:
  static std::optional<Setting> find(const std::string& name) {
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
    return Setting(index);
  }

  // That of allgatherv in Open MPI 4.1 is not.
  bool is_writable() const { return write(read()); }
  // False if it can no longer be changed.
  bool write(int value) const { return MPI_T_cvar_write(handle_, &value) == MPI_SUCCESS; }

  int read() const {
    int value = 0;
    MPI_T_cvar_read(handle_, &value);
    return value;
  }

  // Names of values by value, "" where one has none.
  std::vector<std::string> value_names() const {
    std::vector<std::string> names;
    const MPI_T_enum choices = information().choices;
    int count = 0, length = 0;
    if (choices == MPI_T_ENUM_NULL || MPI_T_enum_get_info(choices, &count, nullptr, &length) != MPI_SUCCESS)
      return names;
    for (int item = 0; item < count; ++item) {
      std::array<char, 256> name{};
      int value = 0, name_length = name.size();
      MPI_T_enum_get_item(choices, item, &value, name.data(), &name_length);
      if (value < 0) continue;
      names.resize(std::max(names.size(), static_cast<std::size_t>(value) + 1));
      names[static_cast<std::size_t>(value)] = name.data();
    }
    return names;
  }

  std::string description() const { return information().description.data(); }

 private:
  explicit Setting(int index) : index_(index) {
    int count = 0;
    MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count);  // freed with the interface
  }

  struct Information {
    MPI_T_enum choices = MPI_T_ENUM_NULL;
    std::array<char, 8192> description{};
  };

  Information information() const {
    Information found;
    int verbosity = 0, bind = 0, scope = 0, name_length = 0, length = found.description.size();
    MPI_Datatype datatype{};
    MPI_T_cvar_get_info(index_, nullptr, &name_length, &verbosity, &datatype, &found.choices, found.description.data(),
                        &length, &bind, &scope);
    return found;
  }

  int index_;
  MPI_T_cvar_handle handle_{};
};

#if defined(OPEN_MPI)

// Components of Open MPI beside `tuned`, and what they have. Not all are in every version, and `han` and `xhc` step
// back where there is only one node, or no shared memory: then the next best component runs, as by default.
struct Component {
  const char* name;
  std::vector<Collective> collectives;
};

std::vector<Component> components() {
  using enum Collective;
  return {{"adapt", {bcast, reduce}},
          {"han", {allreduce, reduce, bcast, barrier}},
          {"sm", {allreduce, reduce, bcast, barrier}},
          {"xhc", {allreduce, reduce, bcast, barrier}}};
}

std::string setting_of(Collective collective) {
  return "coll_tuned_" + std::string(name_of(collective)) + "_algorithm";
}

std::vector<std::string> find_variants(Collective collective) {
  std::vector<std::string> names;
  if (const auto setting = Setting::find(setting_of(collective)); setting && setting->is_writable()) {
    names = setting->value_names();
    names.erase(names.begin(), names.begin() + (names.empty() ? 0 : 1));  // 0 is to decide by itself
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) std::erase(names, "two_proc");  // an error with others
  }
  for (const Component& component : components()) {
    const auto& has = component.collectives;
    const bool there = Setting::find(std::string("coll_") + component.name + "_priority").has_value();
    if (there && std::find(has.begin(), has.end(), collective) != has.end()) names.emplace_back(component.name);
  }
  return names;
}

// `tuned` looks at its settings when a communicator is made; the component is chosen by a hint then.
MPI_Comm make_communicator(Collective collective, const std::string& name) {
  const auto setting = Setting::find(setting_of(collective));
  const std::vector<std::string> algorithms = setting ? setting->value_names() : std::vector<std::string>{};
  const auto algorithm = std::find(algorithms.begin(), algorithms.end(), name);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  if (algorithm == algorithms.end()) {
    MPI_Info_set(hints, "ompi_comm_coll_preference", name.c_str());
  } else if (!setting->write(static_cast<int>(algorithm - algorithms.begin()))) {
    throw UsageError("native:" + name + ": Open MPI lets nobody change " + setting_of(collective));
  }
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &made);
  if (algorithm != algorithms.end()) setting->write(0);
  MPI_Info_free(&hints);
  return made;
}

}  // namespace

struct NativeVariants::Settings {
  explicit Settings(Collective) {}
  void select(const std::string&) {}
};

#else

std::string in_capitals(Collective collective) {
  std::string name(name_of(collective));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::optional<Setting> setting_of(Collective collective) {
  return Setting::find("MPIR_CVAR_" + in_capitals(collective) + "_INTRA_ALGORITHM");
}

// MPICH gives no enumeration of the values, but its description tells of them in their order, "name - what it is", the
// line ends lost. Nothing if it tells of one that is not known here, since then the others' numbers are not, either.
std::vector<std::string> values_in(const std::string& description) {
  static constexpr const char* known[] = {"auto",
                                          "nb",
                                          "smp",
                                          "binomial",
                                          "recursive_doubling",
                                          "reduce_scatter_allgather",
                                          "dissemination",
                                          "scatter_recursive_doubling_allgather",
                                          "scatter_ring_allgather",
                                          "pipelined_tree",
                                          "tree",
                                          "ring",
                                          "recexch",
                                          "k_reduce_scatter_allgather",
                                          "k_dissemination",
                                          "recursive_multiplying",
                                          "ccl",
                                          "brucks",
                                          "k_brucks",
                                          "recexch_doubling",
                                          "recexch_halving",
                                          "recursive_halving",
                                          "noncommutative",
                                          "pairwise",
                                          "pairwise_sendrecv_replace",
                                          "scattered",
                                          "linear"};
  std::vector<std::string> values;
  for (std::size_t dash = description.find(" - "); dash != std::string::npos;
       dash = description.find(" - ", dash + 1)) {
    const std::string before = description.substr(0, description.find_last_not_of(' ', dash) + 1);
    std::string longest;
    for (const std::string name : known)
      if (before.ends_with(name) && name.size() > longest.size()) longest = name;
    if (longest.empty()) return {};
    values.push_back(longest);
  }
  return values;
}

std::vector<std::string> values_of(Collective collective) {
  const auto setting = setting_of(collective);
  return setting ? values_in(setting->description()) : std::vector<std::string>{};
}

std::vector<std::string> find_variants(Collective collective) {
  std::vector<std::string> names = values_of(collective);
  std::erase_if(names, [](const auto& name) { return name == "auto" || name == "nb" || name == "ccl"; });
  return names;
}

MPI_Comm make_communicator(Collective, const std::string&) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  return made;
}

}  // namespace

// MPICH looks at its settings in every call, unless the device has a collective of its own.
struct NativeVariants::Settings {
  explicit Settings(Collective collective)
      : values(values_of(collective)),
        algorithm(setting_of(collective)),
        device(Setting::find("MPIR_CVAR_" + in_capitals(collective) + "_DEVICE_COLLECTIVE")) {
    if (algorithm) usual_algorithm = algorithm->read();
    if (device) usual_device = device->read();
  }

  void select(const std::string& name) {
    if (name == selected || !algorithm || !device) return;
    const auto value = std::find(values.begin(), values.end(), name);
    const bool forced = value != values.end();
    if (!algorithm->write(forced ? static_cast<int>(value - values.begin()) : usual_algorithm) ||
        !device->write(forced ? 0 : usual_device))
      throw UsageError("native:" + name + ": MPICH lets nobody change its algorithm");
    selected = name;
  }

  std::vector<std::string> values;
  std::optional<Setting> algorithm, device;
  int usual_algorithm = 0, usual_device = 1;  // the user's own settings
  std::string selected;
};

#endif

NativeVariants::NativeVariants(Collective collective) : collective_(collective) {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  names_ = find_variants(collective);
  settings_ = std::make_unique<Settings>(collective);
}

NativeVariants::~NativeVariants() {
  for (MPI_Comm& communicator : communicators_) MPI_Comm_free(&communicator);
  MPI_T_finalize();
}

MPI_Comm NativeVariants::communicator_for(const std::string& name) {
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
    std::string choices;
    for (const std::string& known : names_) choices += (choices.empty() ? "" : ", ") + known;
    throw UsageError("native:" + name + ": this MPI library's " + std::string(name_of(collective_)) +
                     " can be forced to " + (choices.empty() ? "nothing" : choices));
  }
  communicators_.push_back(make_communicator(collective_, name));
  return communicators_.back();
}

void NativeVariants::select(const std::string& name) { settings_->select(name); }

}  // namespace stretto::bench
