import BluetoothATT
import BluetoothBase
import BluetoothGATT
import Testing

@testable import BluetoothDocuments

@Suite("Documents: errors and their locations")
struct DecodingTests {
    /// A document around the members of one characteristic.
    static func characteristic(_ members: String) -> String {
        #"{"services": [{"uuid": "180F"}, {"uuid": "180A"}, {"uuid": "180D", "characteristics": [{\#(members)}]}]}"#
    }

    static let wrong: [(String, String, DocumentError.Problem)] = [
        ("[]", "", .expected("an object", found: "a list")),
        ("{}", "services", .missing(expected: "a list of services")),
        (#"{"services": {}}"#, "services", .expected("a list", found: "an object")),
        (#"{"services": [7]}"#, "services[0]", .expected("an object", found: "7")),
        (#"{"services": [{}]}"#, "services[0].uuid", .missing(expected: "the UUID of the service")),
        (
            #"{"services": [], "nmae": "x"}"#, "nmae",
            .unknownMember(known: [
                "format", "version", "name", "address", "connectable", "advertisement", "scanResponse", "services",
                "notifications", "addsGenericServices",
            ])
        ),
        (#"{"services": [], "version": 2}"#, "version", .expected("version 1, the only version", found: "2")),
        (
            #"{"services": [], "format": "zip"}"#, "format",
            .expected("one of \"bluetooth-device\"", found: "\"zip\"")
        ),
        (
            #"{"services": [], "address": "C0:11"}"#, "address",
            .expected(
                "an address such as \"C0:11:22:33:44:55\", followed by \"/P\" if it is public", found: "\"C0:11\"")
        ),
        (#"{"services": [], "name": 1}"#, "name", .expected("a string", found: "1")),
        (#"{"services": [], "connectable": "yes"}"#, "connectable", .expected("true or false", found: "\"yes\"")),
        (
            #"{"services": [{"uuid": "18"}]}"#, "services[0].uuid",
            .expected("a UUID of 4, 8 or 36 characters such as \"180F\"", found: "\"18\"")
        ),
        (
            #"{"services": [{"uuid": "180F", "type": "third"}]}"#, "services[0].type",
            .expected("one of \"primary\", \"secondary\"", found: "\"third\"")
        ),
        (
            #"{"services": [{"uuid": "180F", "handle": 0}]}"#, "services[0].handle",
            .expected("a handle from \"0x0001\" to \"0xFFFF\"", found: "0")
        ),
        (
            #"{"services": [{"uuid": "180F", "endHandle": "0x10000"}]}"#, "services[0].endHandle",
            .expected("a handle from \"0x0001\" to \"0xFFFF\"", found: "\"0x10000\"")
        ),
        (
            #"{"services": [{"uuid": "180F", "includes": ["2A"]}]}"#, "services[0].includes[0]",
            .expected("the UUID or the handle of a service", found: "\"2A\"")
        ),
        (
            #"{"services": [{"uuid": "180F", "includes": ["180A"]}]}"#, "services[0].includes[0]",
            .expected("a service of this document", found: "180A")
        ),
        (
            characteristic(#""uuid": "2A37""#), "services[2].characteristics[0].properties",
            .missing(expected: "a list such as [\"read\", \"notify\"]")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": ["red"]"#),
            "services[2].characteristics[0].properties[0]",
            .expected(
                "one of \"broadcast\", \"read\", \"writeWithoutResponse\", \"write\", \"notify\", \"indicate\", "
                    + "\"authenticatedSignedWrites\", \"extendedProperties\"", found: "\"red\"")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "value": "0G""#),
            "services[2].characteristics[0].value",
            .expected("at most 512 octets in hexadecimal such as \"01 FF\"", found: "\"0G\"")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "value": "01", "text": "a""#),
            "services[2].characteristics[0].text", .contradicts(other: "value")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "text": "abc", "maximumLength": 2"#),
            "services[2].characteristics[0].text", .expected("a text of at most 2 octets", found: "\"abc\"")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "maximumLength": 513"#),
            "services[2].characteristics[0].maximumLength",
            .expected("a number of octets from 0 to 512", found: "513")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "maximumLength": 1, "fixedLength": true"#),
            "services[2].characteristics[0].fixedLength", .contradicts(other: "maximumLength")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "permissions": {"keySize": 6}"#),
            "services[2].characteristics[0].permissions.keySize",
            .expected("a key size from 7 to 16 octets", found: "6")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "permissions": {"readError": "no"}"#),
            "services[2].characteristics[0].permissions.readError",
            .expected(
                "an error such as \"insufficientAuthentication\", or its number from \"0x01\" to \"0xFF\"",
                found: "\"no\"")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "permissions": {"read": "open", "readError": 5}"#),
            "services[2].characteristics[0].permissions.readError", .contradicts(other: "read")
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "handle": 5, "valueHandle": 5"#), "services[2]",
            .database(.handleOutOfOrder(5, after: 5))
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "handle": 2"#), "services[2]",
            .database(.handleInUse(1))
        ),
        (
            characteristic(#""uuid": "2A37", "properties": [], "descriptors": [{"uuid": "2901", "value": "1"}]"#),
            "services[2].characteristics[0].descriptors[0].value",
            .expected("at most 512 octets in hexadecimal such as \"01 FF\"", found: "\"1\"")
        ),
        (
            #"{"services": [], "advertisement": {"data": "\#(String(repeating: "00", count: 32))"}}"#,
            "advertisement.data",
            .expected(
                "at most 31 octets in hexadecimal such as \"01 FF\"", found: "\"\(String(repeating: "0", count: 38))…")
        ),
        (
            #"{"services": [], "advertisement": {"data": "", "name": "a"}}"#, "advertisement.name",
            .contradicts(other: "data")
        ),
        (
            #"{"services": [], "scanResponse": {"manufacturerData": [{"company": -1, "data": ""}]}}"#,
            "scanResponse.manufacturerData[0].company",
            .expected("a company identifier such as \"0x004C\"", found: "-1")
        ),
        (
            #"{"services": [], "advertisement": {"serviceData": [{"uuid": "180F"}]}}"#,
            "advertisement.serviceData[0].data", .missing(expected: "octets in hexadecimal")
        ),
        (
            #"{"services": [], "advertisement": {"flags": 6, "serviceData": [{"uuid": "180F", "data": "\#(String(repeating: "00", count: 25))"}]}}"#,
            "advertisement", .advertisementTooLong(excess: 1)
        ),
        (
            #"{"services": [], "notifications": [{"at": 0, "value": ""}]}"#, "notifications[0].uuid",
            .missing(expected: "the UUID of a characteristic, or its handle as \"handle\"")
        ),
        (
            #"{"services": [], "notifications": [{"at": -1, "uuid": "2A37", "value": ""}]}"#, "notifications[0].at",
            .expected("a time in milliseconds, 0 or more", found: "-1")
        ),
        (
            #"{"services": [], "notifications": [{"at": 1, "uuid": "2A37"}]}"#, "notifications[0].value",
            .missing(expected: "octets in hexadecimal, or a text as \"text\"")
        ),
        (
            #"{"services": [], "notifications": [{"at": 1, "uuid": "2A37", "value": "00"}]}"#, "notifications[0].uuid",
            .expected("a characteristic of this document that notifies or indicates", found: "2A37")
        ),
        (
            #"{"services": [], "notifications": [{"at": 1, "handle": 9, "uuid": "2A37", "value": "00"}]}"#,
            "notifications[0].uuid", .contradicts(other: "handle")
        ),
        (
            #"{"services": [], "notifications": [{"at": 1, "from": "now", "uuid": "2A37", "value": "00"}]}"#,
            "notifications[0].from", .expected("one of \"subscription\", \"connection\"", found: "\"now\"")
        ),
    ]

    @Test("each mistake is reported with its path", arguments: wrong)
    func mistakes(json: String, path: String, problem: DocumentError.Problem) throws {
        let error = try #require(throws: DocumentError.self) { try DeviceDocument(json: Array(json.utf8)) }
        #expect(error == DocumentError(path, problem))
        #expect(error.description.hasPrefix(path.isEmpty ? "expected" : path + ": "))
    }

    @Test(
        "text that is not JSON is rejected, with the position of the error",
        arguments: [
            ("", "Unexpected end of file during JSON parse."), ("{", "Unexpected end of file during JSON parse."),
            ("{\"services\": [}", "Invalid value near line 1, column 15"),
            ("{\n  \"services\":\n    nope\n}", "Invalid value near line 3, column 6"),
        ])
    func notJSON(text: String, reason: String) throws {
        #expect(throws: DocumentError("", .notJSON(reason))) { try DeviceDocument(json: Array(text.utf8)) }
        #expect(DocumentError("", .notJSON("a\u{1B}")).description == "this is not JSON: a\\u001b")
    }

    @Test("hostile names and values are escaped in error messages")
    func hostile() throws {
        let json = "{\"services\": [], \"\\u001b[31m\\u202e\": 1}"
        let error = try #require(throws: DocumentError.self) { try DeviceDocument(json: Array(json.utf8)) }
        #expect(error.description.hasPrefix(#"\u001b[31m\u202e: unknown member"#))
        let name = "{\"services\": [{\"uuid\": \"\\u009b2J\\u2066\"}]}"
        let other = try #require(throws: DocumentError.self) { try DeviceDocument(json: Array(name.utf8)) }
        #expect(other.description.hasSuffix(#"found "\u009b2J\u2066""#))
        #expect(throws: DocumentError.self) { try DeviceDocument(json: [0x22, 0xFF, 0xFE, 0x22]) }
    }
}
