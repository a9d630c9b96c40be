// SPDX-License-Identifier: MIT
#include <replayout/net_archive.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/utf8.h>

namespace replayout {

namespace {

constexpr const char* no_map =
    "there is no PackageMap: what is serialized once for all receivers names no objects, so leave "
    "with_net_shared_serialization off";

}  // namespace

void NetArchive::fail() noexcept {
    if (is_saving()) {
        is_refused_ = true;
    } else {
        reader_->fail();
    }
}

void NetArchive::serialize_bits(std::uint64_t& value, std::uint32_t bit_count) noexcept {
    if (is_saving()) {
        writer_->write_bits(value, bit_count);
    } else {
        value = reader_->read_bits(bit_count);
    }
}

void NetArchive::serialize_packed_uint(std::uint64_t& value) noexcept {
    if (is_saving()) {
        writer_->write_packed_uint(value);
    } else {
        value = reader_->read_packed_uint();
    }
}

void NetArchive::serialize_string(std::string& text, std::uint32_t bytes_max) {
    if (is_saving()) {
        if (text.size() > bytes_max || !is_valid_utf8(text)) {
            fail();
            return;
        }
        writer_->write_packed_uint(text.size());
        writer_->write_bytes(std::as_bytes(std::span(text)));
        return;
    }
    const std::uint64_t byte_count = reader_->read_packed_uint();
    if (byte_count > bytes_max || byte_count > reader_->bits_left() / 8 ||
        !reader_->spend_allocation(byte_count)) {
        fail();
        return;
    }
    std::string incoming(byte_count, '\0');
    reader_->read_bytes(std::as_writable_bytes(std::span(incoming)));
    if (!is_valid_utf8(incoming)) {
        fail();
        return;
    }
    text = std::move(incoming);
}

bool NetArchive::serialize_object(ObjectHandle& object, PackageMap* map) {
    if (map == nullptr) {
        fail();
    }
    REPLAYOUT_EXPECT(map != nullptr, false, "serialize_object: %s", no_map);
    if (is_saving()) {
        const NetGUID guid = map->guid_of(object);
        writer_->write_packed_uint(guid.value);
        return object.is_null() || !guid.is_null();
    }
    const NetGUID guid{reader_->read_packed_uint()};
    depend_on(guid);
    object = reader_->failed() ? ObjectHandle{} : map->object_of(guid);
    return guid.is_null() || !object.is_null();
}

bool NetArchive::receiver_has(ObjectHandle object, PackageMap* map) {
    REPLAYOUT_EXPECT(map != nullptr, false, "receiver_has: %s", no_map);
    if (receiver_ == nullptr || object.is_null()) {
        return true;
    }
    const NetGUID guid = map->guid_of(object);
    const bool is_mapped = receiver_->is_mapped(guid);
    if (!is_mapped && ids_ != nullptr && !guid.is_null()) {
        ids_->push_back(guid);
    }
    return is_mapped;
}

void NetArchive::depend_on(NetGUID guid) {
    if (!is_loading() || ids_ == nullptr || guid.is_null() ||
        !reader_->spend_allocation(sizeof(NetGUID))) {
        return;
    }
    ids_->push_back(guid);
}

}  // namespace replayout
