# SPDX-License-Identifier: MIT
#
# The functions that every CMakeLists.txt of the house uses. Nothing here is installed.

# Stops with the one sentence that says how to get what is missing.
function(replayout_require found what debian_package vcpkg_port variable)
    if(NOT ${found})
        message(FATAL_ERROR "replayout needs ${what}: install the Debian package ${debian_package} "
                            "or the vcpkg port ${vcpkg_port}, or set ${variable} to where it is.")
    endif()
endfunction()

# What every target of ours is compiled with, and nobody else's.
#
# -ffp-contract=off: the same source gives the same float bits with every compiler, and so the same
# packets. Hidden and position independent: an engine may link us into a plug-in of its own.
function(replayout_house_rules target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(
        ${target}
        PROPERTIES CXX_EXTENSIONS OFF
                   CXX_VISIBILITY_PRESET hidden
                   VISIBILITY_INLINES_HIDDEN ON
                   POSITION_INDEPENDENT_CODE ON
                   COMPILE_WARNING_AS_ERROR "${REPLAYOUT_WARNINGS_AS_ERRORS}")
    if(MSVC)
        target_compile_options(${target} PRIVATE /W4 /permissive- /utf-8 /fp:precise /bigobj)
        return()
    endif()
    target_compile_options(
        ${target}
        PRIVATE -ffp-contract=off
                -Wall
                -Wextra
                -Wpedantic
                -Wcast-align
                -Wcast-qual
                -Wconversion
                -Wdouble-promotion
                -Wextra-semi
                -Wformat=2
                -Wimplicit-fallthrough
                -Wnon-virtual-dtor
                -Wold-style-cast
                -Woverloaded-virtual
                -Wsign-conversion
                -Wundef
                $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
                $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
                # Without =local, gcc 12 warns when a scoped enumerator has the name of a type.
                $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
    # Where several files are compiled as one, the names of one shadow those of another.
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT CMAKE_UNITY_BUILD AND NOT REPLAYOUT_BATCH)
        target_compile_options(${target} PRIVATE -Wshadow)
    endif()
    # gcc 12 sees overlapping copies inside std::string where there are none (gcc bug 105651).
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
endfunction()

# replayout_precompile(target HEADERS...): these are read once for the target, and not for each file of
# it. Then a file compiles that does not name all it includes; the preset plain builds without, and
# finds it.
function(replayout_precompile target)
    if(NOT REPLAYOUT_PRECOMPILE)
        return()
    endif()
    set(headers ${ARGN})
    list(TRANSFORM headers PREPEND "<")
    list(TRANSFORM headers APPEND ">")
    target_precompile_headers(${target} PRIVATE ${headers})
    replayout_quiet_precompiled(${target})
endfunction()

# replayout_precompile_as(target OTHER): with what was read for the other, which must be compiled with
# the same options: a program for a program, a library for a library.
function(replayout_precompile_as target other)
    if(NOT REPLAYOUT_PRECOMPILE)
        return()
    endif()
    target_precompile_headers(${target} REUSE_FROM ${other})
    replayout_quiet_precompiled(${target})
endfunction()

# replayout_batch(target [size]): so many of its files, 64, are compiled as one, which reads what they include
# once and compiles in them what they share once.
function(replayout_batch target)
    set(size 64)
    if(ARGN)
        set(size ${ARGN})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD "${REPLAYOUT_BATCH}" UNITY_BUILD_BATCH_SIZE ${size})
    # gcc inlines less into what it takes for a large unit. With its default of 10,000 the library
    # counts up to 10 % more instructions in batches than file by file, with this none.
    if(REPLAYOUT_BATCH AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        target_compile_options(${target} PRIVATE --param=large-unit-insns=1000000)
    endif()
endfunction()

function(replayout_quiet_precompiled target)
    # gcc 12 sees copies beyond the end of a std::string that are none. Out of a header of the system it
    # says nothing of it; out of a precompiled one it does. Without them the warnings stand.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                                                 -Wno-stringop-overread)
    endif()
endfunction()

# Warns about files of the calling directory that match a pattern and that no list names: a source
# that is never compiled, a header that is never installed, a test that never runs. Where warnings are
# errors this is one.
function(replayout_check_listed pattern)
    file(GLOB on_disk RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${pattern})
    list(REMOVE_ITEM on_disk ${ARGN})
    if(on_disk AND PROJECT_IS_TOP_LEVEL)
        list(JOIN on_disk ", " on_disk)
        if(REPLAYOUT_WARNINGS_AS_ERRORS)
            set(severity FATAL_ERROR)
        else()
            set(severity WARNING)
        endif()
        message(${severity} "On disk, but named in no list of ${CMAKE_CURRENT_LIST_FILE}: ${on_disk}")
    endif()
endfunction()

# A floor: replayout_add_module(name FOLDER folder HEADERS ... SOURCES ... LINKS ... PRECOMPILE ...)
#
# HEADERS are its promise, named within include/FOLDER, and each must compile alone. SOURCES, and the
# private headers beside them, live in src/, which nobody else can reach. LINKS are public. PRECOMPILE
# are headers that nearly all of them need. A floor of many files has rooms instead of SOURCES: call
# replayout_add_room() for each of them afterwards.
function(replayout_add_module name)
    cmake_parse_arguments(PARSE_ARGV 1 module "" FOLDER "HEADERS;SOURCES;LINKS;PRECOMPILE")
    list(TRANSFORM module_HEADERS PREPEND include/${module_FOLDER}/)
    list(TRANSFORM module_SOURCES PREPEND src/)
    replayout_check_listed(include/${module_FOLDER}/*.h ${module_HEADERS})
    replayout_check_listed(src/*.cpp ${module_SOURCES})

    set(target replayout_${name})
    add_library(${target} STATIC ${module_SOURCES})
    add_library(replayout::${name} ALIAS ${target})
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${module_HEADERS})
    target_link_libraries(${target} PUBLIC ${module_LINKS})
    target_compile_definitions(${target}
                               PUBLIC $<$<BOOL:${REPLAYOUT_VALIDATE}>:REPLAYOUT_VALIDATION=1>)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
    replayout_house_rules(${target})
    replayout_batch(${target})
    # Batches read a header a few times, which costs less than to precompile it.
    if(module_SOURCES AND module_PRECOMPILE AND NOT REPLAYOUT_BATCH)
        replayout_precompile(${target} ${module_PRECOMPILE})
    endif()
    if(module_SOURCES)
        target_include_directories(${target} PRIVATE src)
    else()
        # For its rooms.
        set_target_properties(${target} PROPERTIES REPLAYOUT_LINKS "${module_LINKS}"
                                                   REPLAYOUT_PRECOMPILED "${module_PRECOMPILE}")
    endif()
    if(REPLAYOUT_INSTALL)
        install(TARGETS ${target} EXPORT replayout-targets FILE_SET HEADERS)
    endif()
endfunction()

# replayout_add_room(module room SOURCES...): the folder src/<room> of a floor. Its files may include
# the headers of their own room and of the rooms that were added before it, by their plain names, and
# no others: they are not on its include path. Where files are compiled in batches, which hold files of
# several rooms, tests/architecture says it.
function(replayout_add_room module room)
    set(sources ${ARGN})
    list(TRANSFORM sources PREPEND src/${room}/)
    replayout_check_listed(src/${room}/*.cpp ${sources})
    set(module_target replayout_${module})
    set(target ${module_target}_${room})
    get_target_property(paths ${module_target} REPLAYOUT_ROOM_PATHS)
    if(NOT paths)
        set(paths)
    endif()
    replayout_check_unique_names(src/${room} ${paths})
    list(APPEND paths ${CMAKE_CURRENT_SOURCE_DIR}/src/${room})
    set_target_properties(${module_target} PROPERTIES REPLAYOUT_ROOM_PATHS "${paths}")
    set_property(TARGET ${module_target} APPEND PROPERTY REPLAYOUT_ROOMS ${room})
    target_include_directories(${module_target} PRIVATE src/${room})
    if(NOT sources)
        return()  # headers alone
    endif()
    if(REPLAYOUT_BATCH)
        target_sources(${module_target} PRIVATE ${sources})
        return()
    endif()

    add_library(${target} OBJECT ${sources})
    target_include_directories(${target} PRIVATE include ${paths})
    get_target_property(links ${module_target} REPLAYOUT_LINKS)
    target_link_libraries(${target} PRIVATE ${links})
    target_compile_definitions(${target}
                               PRIVATE $<$<BOOL:${REPLAYOUT_VALIDATE}>:REPLAYOUT_VALIDATION=1>)
    replayout_house_rules(${target})
    # The first room reads the headers, and all others take what it has read.
    get_target_property(headers ${module_target} REPLAYOUT_PRECOMPILED)
    get_target_property(reader ${module_target} REPLAYOUT_PRECOMPILED_BY)
    if(headers AND reader)
        replayout_precompile_as(${target} ${reader})
    elseif(headers)
        replayout_precompile(${target} ${headers})
        set_target_properties(${module_target} PROPERTIES REPLAYOUT_PRECOMPILED_BY ${target})
    endif()
    target_sources(${module_target} PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

# Two private headers of one name in a floor: an include would find the one that comes first.
function(replayout_check_unique_names folder)
    file(GLOB names RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${folder}/*)
    foreach(path IN LISTS ARGN)
        foreach(name IN LISTS names)
            if(EXISTS ${path}/${name})
                message(FATAL_ERROR "${name} is in ${folder} and in ${path}: names are unique in a floor")
            endif()
        endforeach()
    endforeach()
endfunction()

# replayout_room_paths(module variable): the folders of all rooms of a floor, for a test that reaches
# into it.
function(replayout_room_paths module variable)
    get_target_property(paths replayout_${module} REPLAYOUT_ROOM_PATHS)
    set(${variable} ${paths} PARENT_SCOPE)
endfunction()

# What find_package(replayout) reads. Installed users need the Boost headers and nothing else.
function(replayout_install_package)
    include(CMakePackageConfigHelpers)
    set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/replayout)
    set(REPLAYOUT_HAS_TRANSPORTS OFF)
    if(TARGET replayout::transports)
        set(REPLAYOUT_HAS_TRANSPORTS ON)
    endif()
    configure_package_config_file(
        ${PROJECT_SOURCE_DIR}/replayout/cmake/replayout-config.cmake.in
        ${PROJECT_BINARY_DIR}/replayout-config.cmake INSTALL_DESTINATION ${folder}
        NO_SET_AND_CHECK_MACRO)
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/replayout-config-version.cmake
                                     COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/replayout-config.cmake
                  ${PROJECT_BINARY_DIR}/replayout-config-version.cmake
                  ${PROJECT_SOURCE_DIR}/replayout/cmake/transport_libraries.cmake
            DESTINATION ${folder})
    install(EXPORT replayout-targets NAMESPACE replayout:: DESTINATION ${folder})
endfunction()
