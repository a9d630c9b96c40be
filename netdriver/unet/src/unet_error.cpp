// SPDX-License-Identifier: MIT
#include <replayout/syncvar/unet_error.h>

namespace replayout::syncvar {

std::string_view to_string(UNetError error) noexcept {
    switch (error) {
        case UNetError::None:
            return "no error";
        case UNetError::BufferFull:
            return "buffer full";
        case UNetError::EndOfBytes:
            return "end of bytes";
        case UNetError::NonCanonicalPacked:
            return "packed integer in a longer form than it needs";
        case UNetError::PackedTooWide:
            return "packed integer of more than 32 bits";
        case UNetError::ValueOutOfRange:
            return "value out of range";
        case UNetError::InvalidBool:
            return "invalid bool";
        case UNetError::InvalidDecimal:
            return "invalid decimal";
        case UNetError::TextTooLong:
            return "text too long";
        case UNetError::TextNotUtf8:
            return "text not in UTF-8";
        case UNetError::BytesTooLong:
            return "byte array too long";
        case UNetError::CountOverLimit:
            return "count over limit";
        case UNetError::UnknownOperation:
            return "unknown list operation";
        case UNetError::BytesLeftOver:
            return "bytes left over";
        case UNetError::MessageTooLong:
            return "message too long";
        case UNetError::SizeBeyondPacket:
            return "message size beyond its packet";
        case UNetError::UnknownMessageType:
            return "unknown message type";
    }
    return "unknown error";
}

}  // namespace replayout::syncvar
