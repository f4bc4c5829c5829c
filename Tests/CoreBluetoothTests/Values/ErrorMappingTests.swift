import BluetoothLE
import Testing

@testable import CoreBluetooth

@Suite("I: mapping of the stack's errors")
struct ErrorMappingTests {
    @Test(
        "Row 32: each disconnect reason has its error code",
        arguments: [
            (.byPeer, .peripheralDisconnected), (.peerShutDown, .peripheralDisconnected),
            (.supervisionTimeout, .connectionTimeout), (.transactionTimeout, .connectionTimeout),
            (.byThisDevice, .operationCancelled), (.encryption(.pinOrKeyMissing), .peerRemovedPairingInformation),
            (.encryption(.micFailure), .encryptionTimedOut),
        ] as [(DisconnectReason, CBError.Code)])
    func disconnected(reason: DisconnectReason, code: CBError.Code) {
        #expect(CBError.error(for: .disconnected(reason), orElse: .unknown) as? CBError == CBError(code))
    }

    @Test("Row 83: an ATT error's code is the octet that the server sent", arguments: 1...255 as ClosedRange<UInt8>)
    func refused(octet: UInt8) throws {
        let refusal = ATTError(ATTErrorCode(rawValue: octet), for: .readRequest, at: 3)
        let error = CBError.error(for: .att(refusal), orElse: .unknown)
        #expect((error as? CBATTError)?.code.rawValue == Int(octet))
        let bridged = error as NSError
        #expect(bridged.domain == "CBATTErrorDomain" && bridged.code == Int(octet))
        if octet > 0x7F { #expect(error.localizedDescription == "Unknown ATT error.") }
    }

    @Test("Row 84: a reported error prints its text, also as an `NSError`")
    func printed() {
        let refusal = CBError.error(for: .att(ATTError(.readNotPermitted, for: .readRequest, at: 3)), orElse: .unknown)
        let text =
            "Error Domain=CBATTErrorDomain Code=2 \"Reading is not permitted.\" "
            + "UserInfo={NSLocalizedDescription=Reading is not permitted.}"
        #expect("\(refusal)" == text)
        #expect("\(refusal as NSError)" == text)
        #expect("\(told(CBError(.unknown))! as NSError)".contains("Code=0 \"Unknown error.\""))
    }

    @Test("Row 84: a reported error can be caught by its type and by its code")
    func caught() {
        let end = CBError.error(for: .timedOut, orElse: .unknown)
        do { throw end } catch CBError.connectionTimeout {} catch { Issue.record("it was not caught by its code") }
        do { throw end } catch let error as CBError { #expect(error.code == .connectionTimeout) } catch {
            Issue.record("it was not caught by its type")
        }
        if case CBError.connectionTimeout = end {} else { Issue.record("it does not match its code") }
        #expect(end is CBError && !(end is CBATTError))
        #expect(told(nil) == nil)
    }

    @Test("An error without a counterpart becomes the caller's fallback")
    func other() {
        let error = CBError.error(for: .messageTooLong(maximum: 1), orElse: .connectionFailed)
        #expect(error as? CBError == CBError(.connectionFailed))
    }
}
