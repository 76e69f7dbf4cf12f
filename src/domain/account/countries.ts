/**
 * ISO 3166-1: alpha-2, alpha-3 and English short name, concatenated. The runtime's own list is not
 * used: its regions are not ISO 3166-1, and its names ("Congo - Kinshasa") change with its version.
 */
const TABLE =
  'ADANDAndorra|AEAREUnited Arab Emirates|AFAFGAfghanistan|AGATGAntigua and Barbuda|' +
  'AIAIAAnguilla|ALALBAlbania|AMARMArmenia|AOAGOAngola|AQATAAntarctica|ARARGArgentina|' +
  'ASASMAmerican Samoa|ATAUTAustria|AUAUSAustralia|AWABWAruba|AXALAÅland Islands|' +
  'AZAZEAzerbaijan|BABIHBosnia and Herzegovina|BBBRBBarbados|BDBGDBangladesh|BEBELBelgium|' +
  'BFBFABurkina Faso|BGBGRBulgaria|BHBHRBahrain|BIBDIBurundi|BJBENBenin|BLBLMSaint Barthélemy|' +
  'BMBMUBermuda|BNBRNBrunei|BOBOLBolivia|BQBESBonaire, Sint Eustatius and Saba|BRBRABrazil|' +
  'BSBHSBahamas|BTBTNBhutan|BVBVTBouvet Island|BWBWABotswana|BYBLRBelarus|BZBLZBelize|' +
  'CACANCanada|CCCCKCocos (Keeling) Islands|CDCODCongo (Democratic Republic of the)|' +
  'CFCAFCentral African Republic|CGCOGCongo|CHCHESwitzerland|CICIVCôte d’Ivoire|' +
  'CKCOKCook Islands|CLCHLChile|CMCMRCameroon|CNCHNChina|COCOLColombia|CRCRICosta Rica|' +
  'CUCUBCuba|CVCPVCabo Verde|CWCUWCuraçao|CXCXRChristmas Island|CYCYPCyprus|CZCZECzechia|' +
  'DEDEUGermany|DJDJIDjibouti|DKDNKDenmark|DMDMADominica|DODOMDominican Republic|DZDZAAlgeria|' +
  'ECECUEcuador|EEESTEstonia|EGEGYEgypt|EHESHWestern Sahara|ERERIEritrea|ESESPSpain|' +
  'ETETHEthiopia|FIFINFinland|FJFJIFiji|FKFLKFalkland Islands|FMFSMMicronesia|' +
  'FOFROFaroe Islands|FRFRAFrance|GAGABGabon|GBGBRUnited Kingdom|GDGRDGrenada|GEGEOGeorgia|' +
  'GFGUFFrench Guiana|GGGGYGuernsey|GHGHAGhana|GIGIBGibraltar|GLGRLGreenland|GMGMBGambia|' +
  'GNGINGuinea|GPGLPGuadeloupe|GQGNQEquatorial Guinea|GRGRCGreece|' +
  'GSSGSSouth Georgia and the South Sandwich Islands|GTGTMGuatemala|GUGUMGuam|' +
  'GWGNBGuinea-Bissau|GYGUYGuyana|HKHKGHong Kong|HMHMDHeard Island and McDonald Islands|' +
  'HNHNDHonduras|HRHRVCroatia|HTHTIHaiti|HUHUNHungary|IDIDNIndonesia|IEIRLIreland|ILISRIsrael|' +
  'IMIMNIsle of Man|ININDIndia|IOIOTBritish Indian Ocean Territory|IQIRQIraq|IRIRNIran|' +
  'ISISLIceland|ITITAItaly|JEJEYJersey|JMJAMJamaica|JOJORJordan|JPJPNJapan|KEKENKenya|' +
  'KGKGZKyrgyzstan|KHKHMCambodia|KIKIRKiribati|KMCOMComoros|KNKNASaint Kitts and Nevis|' +
  'KPPRKNorth Korea|KRKORSouth Korea|KWKWTKuwait|KYCYMCayman Islands|KZKAZKazakhstan|LALAOLaos|' +
  'LBLBNLebanon|LCLCASaint Lucia|LILIELiechtenstein|LKLKASri Lanka|LRLBRLiberia|LSLSOLesotho|' +
  'LTLTULithuania|LULUXLuxembourg|LVLVALatvia|LYLBYLibya|MAMARMorocco|MCMCOMonaco|MDMDAMoldova|' +
  'MEMNEMontenegro|MFMAFSaint Martin|MGMDGMadagascar|MHMHLMarshall Islands|' +
  'MKMKDNorth Macedonia|MLMLIMali|MMMMRMyanmar|MNMNGMongolia|MOMACMacao|' +
  'MPMNPNorthern Mariana Islands|MQMTQMartinique|MRMRTMauritania|MSMSRMontserrat|MTMLTMalta|' +
  'MUMUSMauritius|MVMDVMaldives|MWMWIMalawi|MXMEXMexico|MYMYSMalaysia|MZMOZMozambique|' +
  'NANAMNamibia|NCNCLNew Caledonia|NENERNiger|NFNFKNorfolk Island|NGNGANigeria|NINICNicaragua|' +
  'NLNLDNetherlands|NONORNorway|NPNPLNepal|NRNRUNauru|NUNIUNiue|NZNZLNew Zealand|OMOMNOman|' +
  'PAPANPanama|PEPERPeru|PFPYFFrench Polynesia|PGPNGPapua New Guinea|PHPHLPhilippines|' +
  'PKPAKPakistan|PLPOLPoland|PMSPMSaint Pierre and Miquelon|PNPCNPitcairn Islands|' +
  'PRPRIPuerto Rico|PSPSEPalestine|PTPRTPortugal|PWPLWPalau|PYPRYParaguay|QAQATQatar|' +
  'REREURéunion|ROROURomania|RSSRBSerbia|RURUSRussia|RWRWARwanda|SASAUSaudi Arabia|' +
  'SBSLBSolomon Islands|SCSYCSeychelles|SDSDNSudan|SESWESweden|SGSGPSingapore|' +
  'SHSHNSaint Helena, Ascension and Tristan da Cunha|SISVNSlovenia|SJSJMSvalbard and Jan Mayen|' +
  'SKSVKSlovakia|SLSLESierra Leone|SMSMRSan Marino|SNSENSenegal|SOSOMSomalia|SRSURSuriname|' +
  'SSSSDSouth Sudan|STSTPSão Tomé and Príncipe|SVSLVEl Salvador|SXSXMSint Maarten|SYSYRSyria|' +
  'SZSWZEswatini|TCTCATurks and Caicos Islands|TDTCDChad|TFATFFrench Southern Territories|' +
  'TGTGOTogo|THTHAThailand|TJTJKTajikistan|TKTKLTokelau|TLTLSTimor-Leste|TMTKMTurkmenistan|' +
  'TNTUNTunisia|TOTONTonga|TRTURTürkiye|TTTTOTrinidad and Tobago|TVTUVTuvalu|TWTWNTaiwan|' +
  'TZTZATanzania|UAUKRUkraine|UGUGAUganda|UMUMIU.S. Outlying Islands|USUSAUnited States|' +
  'UYURYUruguay|UZUZBUzbekistan|VAVATVatican City|VCVCTSaint Vincent and the Grenadines|' +
  'VEVENVenezuela|VGVGBBritish Virgin Islands|VIVIRU.S. Virgin Islands|VNVNMVietnam|' +
  'VUVUTVanuatu|WFWLFWallis and Futuna|WSWSMSamoa|YEYEMYemen|YTMYTMayotte|ZAZAFSouth Africa|' +
  'ZMZMBZambia|ZWZWEZimbabwe'

const entries = TABLE.split('|').map((text) => ({
  alpha2: text.slice(0, 2),
  alpha3: text.slice(2, 5),
  name: text.slice(5),
}))

/** alpha-2 → English name. */
export const COUNTRIES: Readonly<Record<string, string>> = Object.fromEntries(
  entries.map(({ alpha2, name }) => [alpha2, name]),
)

/** Without regard to case, diacritics and the kind of apostrophe. */
const toKey = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase()

const codes = new Map(
  entries.flatMap(({ alpha2, alpha3, name }) =>
    [alpha2, alpha3, name].map((text) => [toKey(text), alpha2]),
  ),
)

/** The alpha-2 code for an alpha-2 or alpha-3 code or an English name, or null for an unknown one. */
export const countryCode = (text: string): string | null => codes.get(toKey(text)) ?? null
