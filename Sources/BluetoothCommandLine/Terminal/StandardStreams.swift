import BluetoothPlatform

/// Descriptors 0, 1 and 2, which whoever started the program may have closed.
enum StandardStreams {
    /// Makes sure that no descriptor of ours becomes one of the three: what is printed would go into a socket or a capture.
    ///
    /// What is closed becomes `/dev/null`, opened the wrong way round, so that using it fails as it would have.
    ///
    /// - Throws: where that cannot be had.
    static func occupy() throws(CommandFailure) {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The system gives out the lowest one that is free.
            guard open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == descriptor else {
                throw CommandFailure(.usage, "descriptor \(descriptor) is closed, and /dev/null cannot take its place")
            }
        }
    }

    /// How many columns the terminal has that a descriptor belongs to; 80 elsewhere.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Whether standard output takes anything.
    static var isOutputWritable: Bool {
        let flags = fcntl(STDOUT_FILENO, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != O_RDONLY
    }
}
