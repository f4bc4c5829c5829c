// What the signatures of this module name, so that the author of a transport imports this module alone.
@_exported import struct BluetoothBase.DeviceAddress
@_exported import struct BluetoothBase.Instant
@_exported import struct BluetoothBase.PacketQueue
@_exported import enum BluetoothHCI.BTSnoop
@_exported import enum BluetoothHCI.H4Fault
@_exported import struct BluetoothHCI.H4Framer
@_exported import struct BluetoothHCI.HCIFault
@_exported import struct BluetoothHCI.HCIFaults
@_exported import protocol BluetoothHCI.PacketPort
@_exported import protocol BluetoothHCI.PacketPortHost
