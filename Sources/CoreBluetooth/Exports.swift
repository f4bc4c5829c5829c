// Core Bluetooth on Apple's platforms exports these as well.
@_exported import CoreFoundation
@_exported import Dispatch
@_exported import Foundation
@_exported import BluetoothObserving
@_exported import protocol BluetoothHCI.PacketPort
@_exported import struct BluetoothSMP.SecurityRequirement
@_exported import Observation

/// Objective-C's name for a queue, which some applications use in signatures.
public typealias dispatch_queue_t = DispatchQueue
