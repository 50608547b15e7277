# ipc_compile_idl(SOURCES): makes ipc_rpc.h and the stubs of idl/ipc.idl in the current binary folder and sets SOURCES to the server's
# stub. Functions of the client's stub begin with stub_. widl for mingw-w64, midl for Visual C++. The client's stub, ipc_rpc_c.c, is for the tests only: the library's own
# client reports failures as statuses, which a stub raises.
function(ipc_compile_idl sources)
  set(idl ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../idl/ipc.idl)
  set(folder ${CMAKE_CURRENT_BINARY_DIR})
  set(made ${folder}/ipc_rpc.h ${folder}/ipc_rpc_s.c ${folder}/ipc_rpc_c.c)
  if(MSVC)
    if(CMAKE_SIZEOF_VOID_P EQUAL 8)
      set(environment x64)
    else()
      set(environment win32)
    endif()
    add_custom_command(OUTPUT ${made} DEPENDS ${idl} VERBATIM
      COMMAND midl /nologo /Oicf /app_config /prefix client stub_ /env ${environment} /target NT100 /out ${folder}
        /h ipc_rpc.h /sstub ipc_rpc_s.c /cstub ipc_rpc_c.c ${idl})
  else()
    if(CMAKE_SIZEOF_VOID_P EQUAL 8)
      set(widl_names x86_64-w64-mingw32-widl)
      set(width --win64)
    else()
      set(widl_names i686-w64-mingw32-widl)
      set(width --win32)
    endif()
    find_program(IPC_WIDL_${CMAKE_SYSTEM_PROCESSOR} NAMES ${widl_names} widl REQUIRED)
    set(widl ${IPC_WIDL_${CMAKE_SYSTEM_PROCESSOR}} ${width} -Oicf --prefix-client=stub_ -H ipc_rpc.h)
    add_custom_command(OUTPUT ${made} DEPENDS ${idl} VERBATIM WORKING_DIRECTORY ${folder}
      COMMAND ${widl} -h ${idl}
      COMMAND ${widl} -s -S ipc_rpc_s.c ${idl}
      COMMAND ${widl} -c -C ipc_rpc_c.c ${idl})
    # What widl makes is its own, and so are its warnings.
    set_source_files_properties(${folder}/ipc_rpc_s.c ${folder}/ipc_rpc_c.c PROPERTIES
      COMPILE_DEFINITIONS TARGET_IS_NT60_OR_LATER COMPILE_OPTIONS "-w;-std=gnu11")
  endif()
  set(${sources} ${folder}/ipc_rpc_s.c ${folder}/ipc_rpc.h PARENT_SCOPE)
endfunction()
