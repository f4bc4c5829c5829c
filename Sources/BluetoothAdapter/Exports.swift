// One import is enough: the types of the layers below are part of this module's interface.
@_exported import BluetoothATT
@_exported import BluetoothBase
@_exported import BluetoothGAP
@_exported import BluetoothGATT
@_exported import BluetoothHost
@_exported import BluetoothSMP
@_exported import BluetoothUsers
