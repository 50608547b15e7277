# Turns registry.json, the only list of transports, into C++.
#
# ipc_read_registry(FILE PLATFORM SOURCES DATA)
#   FILE      registry.json
#   PLATFORM  linux or windows: what the library is built for
#   SOURCES   gets the source files of every transport's room under transports/ for that platform
#   DATA      path of the C++ file to write: the table that src/core/registry.hpp declares
# Sets ipc_modules to the ids of the transports that become modules (key "module" in the registry) and, for each,
# ipc_module_<id>_sources and ipc_module_<id>_libraries. A module's room says in module.cmake what library it needs.
# Configuring anew happens by itself when the registry or the files of a room change.

# A C string literal of any text.
function(_ipc_literal text out)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# The C++ rows of a JSON array of options.
function(_ipc_options json out)
  set(rows "")
  string(JSON count LENGTH "${json}")
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
      string(JSON name GET "${json}" ${index} name)
      string(JSON kind GET "${json}" ${index} kind)
      string(JSON default GET "${json}" ${index} default)
      string(JSON choices ERROR_VARIABLE none GET "${json}" ${index} choices)
      if(none)
        set(choices "")
      endif()
      if(NOT kind MATCHES "^(choice|size|count)$")
        message(FATAL_ERROR "registry.json: option '${name}' is of kind '${kind}'; it must be choice, size or count")
      endif()
      string(APPEND rows "    {\"${name}\", OptionKind::${kind}, \"${choices}\", \"${default}\"},\n")
    endforeach()
  endif()
  set(${out} "${rows}" PARENT_SCOPE)
endfunction()

# The sources in a folder, without those for the other platform.
function(ipc_room_sources folder platform out)
  # The Visual C++ project runs this as a script, where nothing is configured that could be configured anew.
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(again CONFIGURE_DEPENDS)
  endif()
  file(GLOB files ${again} ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  if(platform STREQUAL "windows")
    list(FILTER files EXCLUDE REGEX "_posix\\.cpp$")
  else()
    list(FILTER files EXCLUDE REGEX "_win32\\.cpp$")
  endif()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# What a module's room needs: its module.cmake sets `libraries` to link, or `missing` to what could not be found.
function(_ipc_module_needs symbol libraries_out missing_out)
  set(libraries "")
  set(missing "")
  include(${CMAKE_CURRENT_SOURCE_DIR}/transports/${symbol}/module.cmake)
  set(${libraries_out} "${libraries}" PARENT_SCOPE)
  set(${missing_out} "${missing}" PARENT_SCOPE)
endfunction()

function(ipc_read_registry file platform sources_out data)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} json)
  string(JSON common GET "${json}" common_options)
  _ipc_options("${common}" common_rows)
  string(JSON transports GET "${json}" transports)
  string(JSON count LENGTH "${transports}")
  math(EXPR last "${count} - 1")
  set(sources "")
  set(declarations "")
  set(option_tables "")
  set(rows "")
  set(ipc_modules "")

  foreach(index RANGE ${last})
    string(JSON entry GET "${transports}" ${index})
    string(JSON id GET "${entry}" id)
    string(JSON kind GET "${entry}" kind)
    string(JSON largest GET "${entry}" largest_message)
    string(JSON why GET "${entry}" sides native)
    string(JSON options GET "${entry}" options)
    string(JSON platform_count LENGTH "${entry}" platforms)
    set(platforms "")
    math(EXPR last_platform "${platform_count} - 1")
    foreach(platform_index RANGE ${last_platform})
      string(JSON one GET "${entry}" platforms ${platform_index})
      list(APPEND platforms ${one})
    endforeach()
    string(REPLACE "-" "_" symbol "${id}")
    string(JSON module_package ERROR_VARIABLE no_module GET "${entry}" module package)

    set(implementation nullptr)
    set(module "")
    set(module_help "")
    if(NOT platform IN_LIST platforms)
      string(REPLACE ";" " and " where "${platforms}")
      set(why "transport '${id}' exists on ${where}, not on ${platform}")
    elseif(why STREQUAL "")
      ipc_room_sources(transports/${symbol} ${platform} room_sources)
      if(NOT room_sources)
        message(FATAL_ERROR "registry.json gives '${id}' a native side on ${platform}, "
          "but native/src/transports/${symbol}/ has no source for it")
      endif()
      if(NOT no_module)
        if(IPC_MODULES)
          _ipc_module_needs(${symbol} libraries missing)
        endif()
        if(NOT IPC_MODULES)
          set(why "this library was built without transport '${id}' and all others that need foreign libraries: build it with IPC_MODULES=ON")
        elseif(missing)
          message(STATUS "Building without transport ${id}: ${missing} not found (Debian: ${module_package})")
          set(why "this library was built without transport '${id}', because ${missing} was not found: install ${module_package} (Debian's name) and build again")
        else()
          list(APPEND ipc_modules ${id})
          set(ipc_module_${id}_sources "${room_sources}" PARENT_SCOPE)
          set(ipc_module_${id}_libraries "${libraries}" PARENT_SCOPE)
          set(module "libipc-${id}.so")
          set(module_help "build it with ${module_package} (Debian's name) installed and keep it beside this library, with that package's libraries installed")
        endif()
      else()
        list(APPEND sources ${room_sources})
        string(APPEND declarations "extern const Transport transport_${symbol};\n")
        set(implementation "&transport_${symbol}")
      endif()
    endif()

    _ipc_options("${options}" own_rows)
    _ipc_literal("${entry}" describe)
    _ipc_literal("${why}" why)
    list(JOIN platforms "," platforms)
    string(APPEND option_tables "constexpr OptionEntry options_${symbol}[] = {\n${own_rows}${common_rows}};\n")
    string(APPEND rows "    {\"${id}\", \"${kind}\", \"${platforms}\", \"${largest}\", options_${symbol},\n    ${describe},\n"
      "    ${implementation}, ${why}, \"${module}\", \"${module_help}\"},\n")
  endforeach()

  file(CONFIGURE OUTPUT ${data} @ONLY CONTENT "// Made from registry.json by cmake/Registry.cmake.
#include \"core/registry.hpp\"

namespace ipc {

@declarations@
namespace {

@option_tables@
const TransportEntry table[] = {
@rows@};

} // namespace

std::span<const TransportEntry> transports() { return table; }

} // namespace ipc
")
  set(${sources_out} "${sources}" PARENT_SCOPE)
  set(ipc_modules "${ipc_modules}" PARENT_SCOPE)
endfunction()
