# stretto_write_catalogue(FILE ROOT): makes the source file that lists the descriptions in ROOT/src/algorithms, in the
# order of folders and files. The description of src/algorithms/scatter/linear.cpp is stretto::scatter::linear_described.
function(stretto_write_catalogue file root)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${root}/src/algorithms ${root}/src/algorithms/*/*.cpp)
  list(SORT sources)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${root}/src/algorithms/${source} described REGEX "Description ${name}_described{")
    if(described)
      string(APPEND declarations "namespace ${folder} {\nextern const Description ${name}_described;\n}\n")
      string(APPEND entries "    &${folder}::${name}_described,\n")
    else()
      # A part of others. Should it come to describe itself, the list is to be made anew.
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${root}/src/algorithms/${source})
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"// Made by cmake/catalogue.cmake from the files of src/algorithms.
#include \"catalogue/descriptions.hpp\"

namespace stretto {
@declarations@
namespace {
constexpr const Description* kDescriptions[] = {
@entries@};
}  // namespace

std::span<const Description* const> descriptions() { return kDescriptions; }

}  // namespace stretto
")
endfunction()
