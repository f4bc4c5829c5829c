// What the signatures of this module name.
@_exported import struct BluetoothBase.DeviceAddress
@_exported import struct BluetoothBase.Instant
@_exported import struct BluetoothBase.PacketQueue
@_exported import struct BluetoothHCI.CoreVersion
@_exported import struct BluetoothHCI.HCIOpcode
@_exported import struct BluetoothHCI.HCIStatus
@_exported import struct BluetoothHCI.LEFeatures
@_exported import protocol BluetoothHCI.PacketPort
@_exported import protocol BluetoothHCI.PacketPortHost
