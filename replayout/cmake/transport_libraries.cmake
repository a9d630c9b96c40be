# SPDX-License-Identifier: MIT
#
# The libraries beneath the transports, as targets, where they are there. For our build and for who
# uses what we installed.

# replayout_find_library(target header library)
function(replayout_find_library target header library)
    if(TARGET replayout::${target})
        return()
    endif()
    string(TOUPPER ${target} variable)
    find_path(REPLAYOUT_${variable}_INCLUDE_DIR ${header})
    find_library(REPLAYOUT_${variable}_LIBRARY ${library})
    if(REPLAYOUT_${variable}_INCLUDE_DIR AND REPLAYOUT_${variable}_LIBRARY)
        add_library(replayout::${target} UNKNOWN IMPORTED GLOBAL)
        set_target_properties(
            replayout::${target}
            PROPERTIES IMPORTED_LOCATION ${REPLAYOUT_${variable}_LIBRARY}
                       INTERFACE_INCLUDE_DIRECTORIES ${REPLAYOUT_${variable}_INCLUDE_DIR})
    endif()
endfunction()

replayout_find_library(sodium sodium.h sodium)
replayout_find_library(enet_library enet/enet.h enet)
