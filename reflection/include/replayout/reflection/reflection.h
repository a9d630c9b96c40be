// SPDX-License-Identifier: MIT
//
// The whole reflection floor: what a type is, and the two doors through which one is described.
//
//     typed     type_builder.h           C++ types, from member pointers
//     dynamic   dynamic_type_builder.h   types that exist only at run time
//
// Both end in a Type of a TypeRegistry. Nothing here knows of a network.
#pragma once

#include <replayout/reflection/call_notify.h>
#include <replayout/reflection/config.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/function.h>
#include <replayout/reflection/fwd.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/kind_of.h>
#include <replayout/reflection/math.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/name.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/quantisation.h>
#include <replayout/reflection/receive_hooks.h>
#include <replayout/reflection/struct_traits.h>
#include <replayout/reflection/type.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/reflection/type_key.h>
#include <replayout/reflection/type_ops.h>
#include <replayout/reflection/type_registry.h>
#include <replayout/reflection/value_ops.h>
