// `ble radio` as a separate program, for Scripts/demo: most of `ble` takes longer to build than all that the demo
// needs.
import BluetoothCommandLine
import RadioCommand

Radio.main()
