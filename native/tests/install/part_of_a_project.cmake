# Builds a project that includes this one by FetchContent and runs its programs. The project gets the library alone, and its output folders stay its own.
# -DREPOSITORY -DCONSUMER -DFOLDER -DCC -DCXX, as script.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/recipes/quick_build.cmake)
file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${FOLDER} -DIPC_SOURCES=${REPOSITORY} -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=${CC}
  -DCMAKE_CXX_COMPILER=${CXX} ${quick_build})
run(${CMAKE_COMMAND} --build ${FOLDER})
foreach(program shared static c)
  run(${FOLDER}/both_ends_${program})
endforeach()
file(GLOB more RELATIVE ${FOLDER} ${FOLDER}/bin ${FOLDER}/lib)
if(more)
  message(FATAL_ERROR "the project's build folder has ${more}, which it has not asked for")
endif()
file(REMOVE_RECURSE ${FOLDER})
