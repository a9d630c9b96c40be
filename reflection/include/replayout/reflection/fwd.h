// SPDX-License-Identifier: MIT
//
// Forward declarations of the reflection floor, and the names of the two services that a custom
// serializer is handed. Those two are defined on the floor above; here they are only names that may
// stand in a function pointer, so that a type can promise a NetSerializer without knowing a
// network.
#pragma once

namespace replayout {

class DynamicTypeBuilder;
class Fingerprint;
class NameTable;
class Type;
class TypeRegistry;
struct ArrayOps;
struct Error;
struct Function;
struct Name;
struct ObjectHandle;
struct Property;
struct ReceiveHooks;
struct ReferenceOps;
struct StringOps;
struct StructTraits;
struct TypeOps;

class NetArchive;    // <replayout/net_archive.h>
class NetDeltaInfo;  // <replayout/net_delta.h>
class PackageMap;    // <replayout/package_map.h>

}  // namespace replayout
