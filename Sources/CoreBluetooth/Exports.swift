// Who imports Core Bluetooth elsewhere has these, too.
@_exported import CoreFoundation
@_exported import Dispatch
@_exported import Foundation
@_exported import KeyValueObserving
@_exported import Observation

/// How Objective-C calls a queue; some signatures in applications have it.
public typealias dispatch_queue_t = DispatchQueue
