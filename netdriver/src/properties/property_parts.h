// SPDX-License-Identifier: MIT
//
// What the senders of properties of one connection share: its objects, its pairs and its packets.
#pragma once

namespace replayout {

class ConnectionPairs;
class ObjectStore;
class PacketStream;
class SentRecords;
class WaitingValues;
struct SendContext;

/// All of it outlives the senders.
struct PropertyParts {
    const ObjectStore& objects;
    ConnectionPairs& pairs;
    WaitingValues& values;
    SentRecords& records;
    PacketStream& packets;
    SendContext& context;
};

}  // namespace replayout
