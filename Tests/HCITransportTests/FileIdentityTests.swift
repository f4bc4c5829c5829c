import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct FileIdentityTests {
    @Test(
        "the process that locked a file is found among all locks",
        arguments: [
            ("FLOCK  ADVISORY  WRITE 1234 %s 0 EOF", 1234),
            ("POSIX  ADVISORY  WRITE 1234 %s 0 EOF", nil),
            // A process that is not visible in this namespace.
            ("FLOCK  ADVISORY  WRITE 0 %s 0 EOF", nil),
            ("FLOCK  ADVISORY  WRITE 1234 00:00:1 0 EOF", nil),
            ("FLOCK  ADVISORY  WRITE x %s", nil),
            ("FLOCK", nil),
        ] as [(String, Int32?)])
    func locks(line: String, process: Int32?) throws {
        let directory = Directory(), path = directory.file("f")
        close(open(path, O_WRONLY | O_CREAT, 0o600))
        var status = stat()
        stat(path, &status)
        let device = [gnu_dev_major(status.st_dev), gnu_dev_minor(status.st_dev)].map { number in
            let text = String(number, radix: 16)
            return text.count < 2 ? "0" + text : text
        }
        let file = "\(device[0]):\(device[1]):\(status.st_ino)"
        let text = "1: POSIX  ADVISORY  READ 77 00:19:56 0 EOF\n2: " + line.replacing("%s", with: file) + "\n"
        #expect(try #require(FileIdentity(path)).lockingProcess(locks: text) == process)
    }
}
