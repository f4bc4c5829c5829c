import BluetoothPlatform
import CBluetoothHCI

/// The reason why a transport over a device file (`serial`, `pty` or `vhci`) can't be opened.
@nonexhaustive
public enum DeviceFault: Error, Equatable, Sendable {
    /// The device does not exist. `present` lists the available serial devices.
    case notFound(path: String, present: [String])
    /// The user may not open the device. Members of `group` may; it is nil if the device's group is root's or has no
    /// access.
    case notPermitted(path: String, group: String?)
    /// Another program has the device open.
    case inUse(path: String)
    /// The file is not a serial device.
    case notASerialDevice
    /// The device does not support the baud rate. `actual` is the rate that its driver falls back to.
    case baudRateNotSupported(UInt32, actual: UInt32)
    /// Another file exists at the path of the symbolic link to a pseudo-terminal.
    case linkTaken
    /// The kernel has no virtual HCI driver.
    case noVirtualHCI(path: String)
    /// `vhci` provides controllers to the kernel. A host can't use it to reach a controller.
    case takesControllersOnly
}

extension DeviceFault: CustomStringConvertible {
    /// The cause and the fix, in one line.
    public var description: String {
        switch self {
        case .notFound(let path, let present):
            "there is no device \(path); "
                + (present.isEmpty
                    ? "no serial device is plugged in" : "present: " + present.joined(separator: ", "))
        case .notPermitted(let path, let group):
            if let group {
                "not permitted to open \(path); join its group, and log in again: sudo usermod -aG \(group) $USER"
            } else {
                "not permitted to open \(path); allow it until the next reboot: sudo chown $USER \(path)"
            }
        case .inUse(let path): "another program has \(path) open; see which, and stop it: sudo fuser -v \(path)"
        case .notASerialDevice: "not a serial device; check the path"
        case .baudRateNotSupported(let rate, let actual):
            "the device does not support \(rate) baud, and would use \(actual); choose a supported rate"
        case .linkTaken: "this path is taken; remove the file, or choose another path"
        case .noVirtualHCI(let path):
            "there is no \(path); load the driver: sudo modprobe hci_vhci (in a container, also pass it the device)"
        case .takesControllersOnly:
            "provides controllers to the kernel; use hci-socket:N for the kernel's adapter"
        }
    }
}

extension DeviceFault {
    /// The error for a serial device that could not be opened or set up; nil if there is no specific one.
    init?(openingSerialDevice path: String, _ error: Errno) {
        switch error.code {
        // A driver without hardware still has a device file. Opening it fails with EIO.
        case ENOENT, ENODEV, ENXIO, EIO: self = .notFound(path: path, present: Self.serialDevices())
        case EACCES, EPERM: self = .notPermitted(path: path, group: Self.groupName(of: path))
        case EBUSY, EWOULDBLOCK: self = .inUse(path: path)
        case ENOTTY, EISDIR, EINVAL, ENOTDIR: self = .notASerialDevice
        default: return nil
        }
    }

    /// The error for a virtual HCI device that could not be opened; nil if there is no specific one.
    init?(openingVirtualHCI path: String, _ error: Errno) {
        switch error.code {
        case ENOENT, ENODEV, ENXIO, ENOTDIR: self = .noVirtualHCI(path: path)
        case EACCES, EPERM: self = .notPermitted(path: path, group: Self.groupName(of: path))
        default: return nil
        }
    }

    /// The device files of pluggable serial devices.
    private static func serialDevices() -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        // A pattern that nothing matches adds nothing.
        _ = glob("/dev/ttyACM*", 0, nil, &found)
        _ = glob("/dev/ttyUSB*", GLOB_APPEND, nil, &found)
        return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }

    /// The group of a file; nil if the group is root's, which no user should join, or has no access.
    private static func groupName(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_gid != 0, status.st_mode & (S_IRGRP | S_IWGRP) == S_IRGRP | S_IWGRP
        else { return nil }
        var entry = group(), result: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 16384)
        guard getgrgid_r(status.st_gid, &entry, &buffer, buffer.count, &result) == 0, let result else { return nil }
        return result.pointee.gr_name.map { String(cString: $0) }
    }
}
