/// A reason why sources cannot be adapted. Each has its own exit status.
public enum Obstacle: Error, Hashable, CustomStringConvertible {
    /// The directory has changes that are not in git.
    case uncommittedChanges(directory: String, example: String)
    /// The target has Objective-C sources and no Swift.
    case objectiveC(target: String, example: String)
    /// The target has sources in Swift and in another language.
    case mixedTarget(target: String, example: String)
    /// An Xcode project without a manifest.
    case xcodeProject(name: String, folders: [String])
    /// A symbolic link that leads out of the directory.
    case symbolicLink(path: String, destination: String)
    /// A file or directory that does not exist, or is not UTF-8 text.
    case unreadable(path: String, reason: String)
    /// A file that cannot be written.
    case unwritable(path: String, reason: String)
    /// The manifest, or a program that `adapt` needs, failed.
    case unavailable(reason: String)
    /// The arguments do not fit together.
    case usage(String)

    /// The exit status that reports this obstacle.
    public var status: Int32 {
        switch self {
        case .uncommittedChanges: 2
        case .objectiveC: 3
        case .mixedTarget: 4
        case .xcodeProject: 5
        case .symbolicLink: 6
        case .unavailable: 8
        case .usage: 64
        case .unreadable: 66
        case .unwritable: 73
        }
    }

    /// The obstacle, and what to do about it.
    public var description: String {
        switch self {
        case .uncommittedChanges(let directory, let example):
            "\(directory) has uncommitted changes, for example \(example). Commit them, or pass --allow-dirty."
        case .objectiveC(let target, let example):
            "\(target) is written in Objective-C (\(example)), which Swift on Linux cannot call. "
                + "Rewrite it in Swift, or pass only folders with Swift sources."
        case .mixedTarget(let target, let example):
            "\(target) mixes Swift with another language (\(example)), which the package manager cannot build. "
                + "Move the other language's files to another target, or rewrite them in Swift."
        case .xcodeProject(let name, let folders):
            "\(name) is an Xcode project without a Package.swift. Pass the folder with the sources"
                + (folders.isEmpty ? "." : ", for example \(folders.joined(separator: " or ")).")
        case .symbolicLink(let path, let destination):
            "\(path) is a symbolic link to \(destination), outside of the directory. "
                + "Replace it by the files, or pass the directory that it leads to."
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)."
        case .unwritable(let path, let reason): "\(path) cannot be written: \(reason)."
        case .unavailable(let reason): reason
        case .usage(let text): text
        }
    }
}

/// The exit statuses without an obstacle.
public enum Outcome {
    /// Nothing is left to do by hand; with `--check`, the result compiles.
    public static let done: Int32 = 0
    /// Something is left to do by hand.
    public static let left: Int32 = 1
    /// A file is not valid Swift.
    public static let unparsed: Int32 = 7
}
