// What the signatures of this module name.
@_exported import struct BluetoothBase.Instant
@_exported import struct BluetoothBase.PacketQueue
@_exported import protocol BluetoothHCI.PacketPort
@_exported import protocol BluetoothHCI.PacketPortHost
@_exported import struct BluetoothHost.Host
@_exported import struct BluetoothHost.HostConfiguration
@_exported import enum BluetoothHost.HostEvent
@_exported import struct BluetoothHost.LinkIdentifier
@_exported import struct VirtualRadio.Air
@_exported import struct VirtualRadio.ControllerConfiguration
@_exported import struct VirtualRadio.ControllerID
