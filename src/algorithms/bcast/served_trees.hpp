// A message from the root to ranks that announce themselves: those who have announced themselves by the time that the
// root looks become a sub-tree with one of them as its root. Every one of them is told by the root what its place is:
// its parent and its children.
#pragma once

#include <cstddef>

#include "algorithms/parts/announcements.hpp"
#include "core/group.hpp"

namespace stretto {

inline constexpr std::uint32_t kNotices = 0;  // the stream of announcements and places

/// At the root: `call` in segments to so many `announcers`. With one segment the root waits until somebody is there,
/// gives places in a binomial sub-tree to all who are by then, sends its root the whole message, and looks again. With
/// more the sub-trees are binary, and the root looks for new ranks between segments and serves two sub-trees in turn;
/// who comes meanwhile gathers for the next one.
Task serve_in_trees(Group& g, const Call& call, std::size_t segments, Announcements& announcements,
                    std::size_t announcers);

/// Elsewhere: announces by `announcement` and takes the message from whoever the root says, passing it on.
Task take_place_in_tree(Group& g, const Call& call, std::size_t segments, Transfer announcement);

}  // namespace stretto
