# Header-only: nothing to link, nothing to load at run time.
find_path(IPC_BOOST_INCLUDE boost/interprocess/ipc/message_queue.hpp)
if(IPC_BOOST_INCLUDE)
  add_library(ipc_boost INTERFACE IMPORTED)
  target_include_directories(ipc_boost SYSTEM INTERFACE ${IPC_BOOST_INCLUDE})
  # Its own checks would end the process when a peer died in the middle; the link checks after each step instead.
  target_compile_definitions(ipc_boost INTERFACE BOOST_DISABLE_ASSERTS BOOST_DATE_TIME_NO_LIB)
  set(libraries ipc_boost)
else()
  set(missing "Boost.Interprocess (boost/interprocess/ipc/message_queue.hpp)")
endif()
