import qrcode from "qrcode-generator"
export { qrcode }
