// SPDX-License-Identifier: MIT
//
// What can be wrong with bytes in UNet's format, or with what is to become such bytes. Readers and
// writers keep the first of them and go on as if nothing were there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout {

enum class UNetError : std::uint8_t {
    None,
    BufferFull,          ///< writing: the memory that was given is too small
    EndOfBytes,          ///< reading: there are fewer bytes than the value takes
    NonCanonicalPacked,  ///< a packed integer in a longer form than it needs
    PackedTooWide,       ///< a packed integer of more than 32 bits, where 32 are read
    ValueOutOfRange,     ///< a packed integer that the type of the variable cannot hold
    InvalidBool,         ///< a bool that is neither 0 nor 1
    InvalidDecimal,      ///< a decimal whose last word has no meaning
    TextTooLong,         ///< text of unet_text_bytes_end bytes or more
    TextNotUtf8,         ///< text that is not well-formed
    BytesTooLong,        ///< more bytes than a count of 16 bits can tell
    CountOverLimit,      ///< more elements than bytes are left for, or than 16 bits count
    UnknownOperation,    ///< of a list
    BytesLeftOver,       ///< a message that goes on behind its end
    MessageTooLong,      ///< more bytes than a message may have
    SizeBeyondPacket,    ///< a message that says it is longer than the rest of its packet
    UnknownMessageType,  ///< a message that nobody takes
};

inline constexpr std::size_t unet_error_count =
    static_cast<std::size_t>(UNetError::UnknownMessageType) + 1;

/// Stable lower-case English phrase ("end of bytes").
[[nodiscard]] std::string_view to_string(UNetError error) noexcept;

/// How a reader takes what UNet's own writer never writes.
enum class UNetStrictness : std::uint8_t {
    Strict,  ///< as an error
    /// As Unity HLAPI 1.1.1 reads it: packed integers in any form; a bool is true where it is 1; a
    /// packed integer that is too large loses its high bits, and one of more than 32 bits, where 32
    /// are read, is taken for four bytes, so that what follows is misread; a message may go on
    /// behind its end. The ends of the bytes, lengths, counts, operations of lists, decimals, and
    /// that text is UTF-8 are checked all the same.
    Lenient,
};

}  // namespace replayout
