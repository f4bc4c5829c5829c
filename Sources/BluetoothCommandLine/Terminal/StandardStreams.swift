import BluetoothPlatform

/// Descriptors 0, 1 and 2, any of which may be closed when the program starts.
enum StandardStreams {
    /// Ensures that no other descriptor of the program becomes one of the three. Otherwise the output could go to a
    /// socket or a capture.
    ///
    /// A closed descriptor is replaced by `/dev/null`, opened in the wrong direction, so that using it still fails.
    ///
    /// - Throws: a usage failure if that is not possible.
    static func occupy() throws(CommandFailure) {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The system assigns the lowest free descriptor.
            guard open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == descriptor else {
                throw CommandFailure(.usage, "descriptor \(descriptor) is closed and cannot be replaced by /dev/null")
            }
        }
    }

    /// The number of columns of the terminal that a descriptor belongs to; 80 if it is not a terminal.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Whether standard output is open for writing.
    static var isOutputWritable: Bool {
        let flags = fcntl(STDOUT_FILENO, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != O_RDONLY
    }
}
