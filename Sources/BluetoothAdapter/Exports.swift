// One import is enough: this module's interface uses the types of the layers below.
@_exported import BluetoothATT
@_exported import BluetoothBase
@_exported import BluetoothGAP
@_exported import BluetoothGATT
@_exported import BluetoothHost
@_exported import BluetoothSMP
@_exported import BluetoothUsers
