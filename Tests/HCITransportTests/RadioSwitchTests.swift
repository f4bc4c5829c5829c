import BluetoothPlatform
import Testing

@testable import HCITransport

struct RadioSwitchTests {
    @Test("the switches of Bluetooth radios are read, and no others")
    func reading() throws {
        let directory = Directory()
        let switches: [(String, [String: String])] = [
            ("rfkill0", ["type": "wlan\n", "name": "phy0\n", "soft": "1\n", "hard": "1\n"]),
            ("rfkill1", ["type": "bluetooth\n", "name": "hci0\n", "soft": "1\n", "hard": "0\n"]),
            ("rfkill12", ["type": "bluetooth\n", "name": "dell-bluetooth\n", "soft": "0\n", "hard": "1\n"]),
            // One that disappears while it is read.
            ("rfkill3", ["type": "bluetooth\n"]),
        ]
        defer {
            for (name, files) in switches {
                for file in files.keys { unlink(directory.file("\(name)/\(file)")) }
                rmdir(directory.file(name))
            }
        }
        for (name, files) in switches {
            mkdir(directory.file(name), 0o700)
            for (file, text) in files {
                let descriptor = open(directory.file("\(name)/\(file)"), O_WRONLY | O_CREAT, 0o600)
                defer { close(descriptor) }
                try #require(write(descriptor, text, text.utf8.count) == text.utf8.count)
            }
        }
        let read = RadioSwitch.all(in: directory.path)
        #expect(
            read == [
                RadioSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: false),
                RadioSwitch(name: "dell-bluetooth", isSoftBlocked: false, isHardBlocked: true),
            ])
        #expect(read.map(\.block) == [.software, .hardware])
        #expect(read.map(\.isMachineWide) == [false, true])
    }

    @Test("a kernel without switches has none")
    func none() {
        #expect(RadioSwitch.all(in: "/nowhere") == [])
    }
}
