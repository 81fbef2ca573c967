#include "mpi/calls/call_check.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/calls/wrong_use.hpp"

namespace stretto::mpi {
namespace {

// What a rank tells the others.
struct CheckedCall {
  CallEntry call;
  std::array<char, 104> site;  // "solve+0x1a2 in a.out", cut to this length
};

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// A function's name where the dynamic linker knows it, as of programs linked with -rdynamic and of libraries; else an
// address that addr2line takes.
std::string site_of(const Caller& caller) {
  static CallSites sites;
  const std::uint64_t address = sites.resolve(caller, [](const Module&) {});
  Dl_info found{};
  char text[160] = "an unknown place";
  if (dladdr(reinterpret_cast<void*>(address), &found) == 0 || found.dli_fname == nullptr) return text;
  const bool named = found.dli_sname != nullptr;
  const auto begin = reinterpret_cast<std::uint64_t>(named ? found.dli_saddr : found.dli_fbase);
  std::snprintf(text, sizeof text, "%s+0x%llx in %s", named ? found.dli_sname : "",
                static_cast<unsigned long long>(address - begin), file_name(found.dli_fname).data());
  return text;
}

std::vector<CheckedCall> exchange(Engine& engine, int ranks, const CheckedCall& mine) {
  static const Algorithm* const allgather = find_algorithm(Collective::allgather, "bruck");
  std::vector<CheckedCall> all(static_cast<std::size_t>(ranks));
  Call call;
  call.input = reinterpret_cast<const std::byte*>(&mine);
  call.output = reinterpret_cast<std::byte*>(all.data());
  call.count = sizeof mine;
  engine.run(*allgather, call);
  return all;
}

std::string said(const CheckedCall& call) { return text_of(call.call) + " (" + call.site.data() + ")"; }

// "ranks 0-2, 5"
std::string list_of(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

// One rank says of all what they are in: "ranks 0-2 in ..., rank 3 in ...".
std::string explain(const std::vector<CheckedCall>& all) {
  std::vector<std::pair<CheckedCall, std::vector<int>>> kinds;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto same = std::ranges::find_if(kinds, [&](const auto& kind) { return kind.first.call == all[rank].call; });
    auto& kind = same == kinds.end() ? kinds.emplace_back(all[rank], std::vector<int>{}) : *same;
    kind.second.push_back(static_cast<int>(rank));
  }
  std::string text;
  for (const auto& [call, ranks] : kinds) text += (text.empty() ? "" : ", ") + list_of(ranks) + " in " + said(call);
  return text;
}

}  // namespace

int check_call(Communicator& communicator, Collective collective, const PreparedCall* prepared, const Caller& caller,
               MPI_Comm comm) {
  const CallOutline outline = prepared == nullptr ? CallOutline{} : prepared->outline();
  CheckedCall mine{outline.entry(collective, prepared == nullptr), {}};
  site_of(caller).copy(mine.site.data(), mine.site.size() - 1);
  ++communicator.checked;
  const std::vector<CheckedCall> all = exchange(*communicator.engine, communicator.size, mine);
  const auto other = std::ranges::find_if(all, [&](const CheckedCall& theirs) { return !(theirs.call == mine.call); });
  if (other == all.end()) return MPI_SUCCESS;
  if (communicator.rank == 0) {
    std::fprintf(stderr, "stretto: check: call %llu of %s: %s\n", static_cast<unsigned long long>(communicator.checked),
                 name_of_communicator(comm).c_str(), explain(all).c_str());
  }
  // Whoever ends the job in its error handler must not be ahead of that.
  exchange(*communicator.engine, communicator.size, mine);
  return raise_quietly(class_of({communicator.checked, static_cast<int>(other - all.begin()), other->call, mine.call}),
                       comm);
}

}  // namespace stretto::mpi
