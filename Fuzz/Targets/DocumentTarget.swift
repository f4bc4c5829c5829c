import BluetoothBase
import BluetoothDocuments

/// A device's document, as `ble serve` and `ble replay` read it. If it is one, what is written of it reads the same,
/// and its layout is that of the original.
func fuzzDocument(_ bytes: Span<UInt8>) throws(FuzzViolation) {
    guard let document = try? DeviceDocument(json: Array(bytes)) else { return }
    let layout = try? document.layout()
    guard let again = try? DeviceDocument(json: Array(document.json.utf8)) else {
        throw FuzzViolation(description: "what was written is refused")
    }
    try require(again == document, "a document changes")
    let other = try? again.layout()
    try require(layout?.notifications == other?.notifications, "the notifications change")
    try require(layout?.definitions.count == other?.definitions.count, "the services change")
}

/// A document that has something of everything.
let seedDocument = """
    {"name": "Seed", "address": "C0:C1:C2:C3:C4:C5", "connectable": true,
     "advertisement": {"flags": 6, "name": "Seed", "services": ["180D"], "txPower": -4, "appearance": "0x0340",
      "serviceData": [{"uuid": "FCD2", "data": "40"}], "structures": [{"type": "0x1B", "data": "00"}]},
     "scanResponse": {"data": "020A00"},
     "services": [
      {"uuid": "180D", "handle": "0x0010", "endHandle": "0x001F", "includes": ["FEED", {"service": "FEED", "handle": 18}],
       "characteristics": [
        {"uuid": "2A37", "handle": 20, "valueHandle": 22, "properties": ["notify", "indicate"],
         "descriptors": [{"uuid": "2901", "text": "beats"}, {"uuid": "2902", "handle": "0x001A"}]},
        {"uuid": "2A38", "properties": ["read"], "permissions": {"readError": "insufficientAuthentication"}}]},
      {"uuid": "FEED", "type": "secondary", "characteristics": [
       {"uuid": "12345678-0000-1000-8000-AABBCCDDEEFF", "properties": ["read", "write"], "value": "01 02",
        "addsDescriptors": false}]}],
     "notifications": [{"at": 50, "uuid": "2A37", "value": "00 48"}, {"at": 1.5, "handle": 22, "text": "x"}]}
    """
